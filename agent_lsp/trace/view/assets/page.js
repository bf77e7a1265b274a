"use strict";
// The page is whole without this: it only opens and closes many rows at once, finds words and changes the colours.
const rows = [...document.querySelectorAll("main .row:not(.axis)")].map((row) => {
  const details = row.closest("summary") ? row.parentElement : null;
  return { element: details ?? row, details };
});
const field = document.querySelector("input[type=search]");
const found = document.querySelector(".found");

function openAll(open) {
  for (const details of document.querySelectorAll("main > section > details")) details.open = open;
}

function find(words) {
  const wanted = words.trim().toLowerCase();
  let hits = 0;
  for (const { element } of rows) {
    element.hidden = wanted !== "" && !element.textContent.toLowerCase().includes(wanted);
    if (!element.hidden) hits += 1;
  }
  for (const section of document.querySelectorAll("main > section"))
    section.hidden = wanted !== "" && !section.querySelector(".row:not(.axis):not([hidden]), details:not([hidden])");
  found.textContent = wanted === "" ? "" : hits === 1 ? "1 row" : `${hits} rows`;
}

function otherTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
}

const actions = { open: () => openAll(true), close: () => openAll(false), theme: otherTheme };
for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", actions[button.dataset.do]);
field.addEventListener("input", () => find(field.value));
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  } else if (event.key === "Escape" && document.activeElement === field) {
    field.value = "";
    find("");
    field.blur();
  }
});
