// The panel of what can go wrong: a switch for each fault of each service, and a line that says which are on.

import { $, make } from "./dom.js";
import { banner } from "./notes.js";
import { post } from "./wire.js";

export function drawFaults(phone) {
  const on = phone.faults.flatMap((service) => service.switches.filter((one) => one.on).map((one) => one.says));
  banner(on.join(" "));
  const wanted = JSON.stringify(phone.faults);
  if ($("switches").dataset.drawn === wanted) return;
  const focused = document.activeElement && document.activeElement.id;
  $("switches").dataset.drawn = wanted;
  $("switches").replaceChildren(...phone.faults.map(group));
  if (focused && focused.startsWith("fault-")) $(focused).focus();
}

function group(service) {
  const set = make("fieldset", "faults");
  set.append(make("legend", "", service.title), ...service.switches.map((one) => line(service, one)));
  return set;
}

function line(service, one) {
  const label = make("label", "switch");
  const box = make("input");
  box.type = "checkbox";
  box.id = `fault-${service.name}-${one.name}`;
  box.checked = one.on;
  box.setAttribute("role", "switch");
  box.onchange = async () => {
    const body = { service: service.name, fault: one.name, on: box.checked, seconds: one.seconds };
    if (!await post("/sandbox/faults", body)) box.checked = one.on;
  };
  label.append(box, make("span", "", one.label));
  return label;
}

$("open-faults").onclick = () => $("faults").showModal();
$("heal").onclick = () => post("/sandbox/heal");
