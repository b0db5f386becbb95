// The panel of what can go wrong: a switch for each fault of each service, and a line that says which are on.

import { $, make } from "./dom.js";
import { banner } from "./notes.js";
import { post } from "./wire.js";

export function drawFaults(phone) {
  const on = phone.faults.flatMap((service) => service.switches.filter((one) => one.on).map((one) => one.says));
  banner(on.join(" "));
  if (!$("switches").hasChildNodes()) $("switches").append(...phone.faults.map(group));
  for (const service of phone.faults) {
    for (const one of service.switches) $(id(service, one)).checked = one.on;
  }
}

const id = (service, one) => `fault-${service.name}-${one.name}`;

function group(service) {
  const set = make("fieldset", "faults");
  set.append(make("legend", "", service.title), ...service.switches.map((one) => line(service, one)));
  return set;
}

function line(service, one) {
  const label = make("label", "switch");
  const box = make("input");
  box.type = "checkbox";
  box.id = id(service, one);
  box.setAttribute("role", "switch");
  box.onchange = async () => {
    const body = { service: service.name, fault: one.name, on: box.checked, seconds: one.seconds };
    if (!await post("/sandbox/faults", body)) box.checked = !box.checked;
  };
  label.append(box, make("span", "", one.label));
  return label;
}

$("open-faults").onclick = () => $("faults").showModal();
$("heal").onclick = () => post("/sandbox/heal");
