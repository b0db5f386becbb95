// Comfort only: everything works without it. Text areas grow, and an open page learns that it was answered elsewhere.
"use strict";
const grow = (area) => {
  if (CSS.supports("field-sizing", "content")) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + 2}px`;
};
for (const area of document.querySelectorAll("textarea")) {
  area.addEventListener("input", () => grow(area));
}
const files = document.getElementById("files");
const bytes = () => [...files.files].reduce((sum, file) => sum + file.size, 0);
const tooMuch = () => !!files && (bytes() > Number(files.dataset.bytes) || files.files.length > Number(files.dataset.files));
const tellSize = () => { document.getElementById("files-problem").hidden = !tooMuch(); };
files?.addEventListener("change", tellSize);
document.addEventListener("submit", (event) => {
  if (!tooMuch()) return;
  event.preventDefault(); // it would take its time and be refused
  event.stopImmediatePropagation();
  tellSize();
  files.focus();
});
let touched = false;
document.addEventListener("input", () => { touched = true; });
document.addEventListener("submit", () => { clearInterval(watch); });
const look = async () => {
  if (document.hidden) return;
  const answer = await fetch(`${location.pathname}/status`, { headers: { accept: "application/json" } }).catch(() => null);
  if (!answer?.ok || (await answer.json()).status === "pending") return;
  clearInterval(watch);
  if (touched) document.getElementById("elsewhere").hidden = false; // never takes away what was typed
  else location.reload();
};
const watch = setInterval(look, 5000);
