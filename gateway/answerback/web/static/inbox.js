// Comfort only: an open inbox learns that something else waits, and never takes away what was typed.
"use strict";
const inbox = document.querySelector(".inbox");
let touched = false;
document.addEventListener("input", () => { touched = true; });
document.addEventListener("submit", () => { clearInterval(watch); });
const look = async () => {
  if (document.hidden) return;
  const answer = await fetch(inbox.dataset.status + location.search, { headers: { accept: "application/json" } }).catch(() => null);
  if (!answer?.ok || (await answer.json()).waiting === inbox.dataset.waiting) return;
  clearInterval(watch);
  if (touched) document.getElementById("changed").hidden = false;
  else location.replace(inbox.dataset.here + (location.search.includes("after=") ? location.search : ""));
};
const watch = setInterval(look, 5000);
