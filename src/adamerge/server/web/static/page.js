// A word of the query becomes a button that shows its region alone.
"use strict";
{
  const asked = document.getElementById("asked");
  const figure = document.getElementById("figure");
  const regions = [...figure.querySelectorAll(".region")];
  const show = (word) => {
    for (const region of regions) region.classList.toggle("off", word !== null && region.dataset.word !== word);
    figure.classList.toggle("alone", word !== null);
  };
  const buttons = [];
  let chosen = null;
  const choose = (button) => {
    chosen = chosen === button ? null : button;
    for (const other of buttons) other.setAttribute("aria-pressed", String(other === chosen));
    show(chosen && chosen.dataset.word);
  };
  for (const item of asked ? asked.children : []) {
    const token = item.querySelector(".token");
    const button = document.createElement("button");
    button.type = "button";
    button.className = token.className;
    button.dataset.word = item.dataset.word;
    button.setAttribute("aria-pressed", "false");
    button.append(...token.childNodes);
    token.replaceWith(button);
    button.addEventListener("click", () => choose(button));
    item.addEventListener("pointerenter", () => show(item.dataset.word));
    item.addEventListener("pointerleave", () => show(chosen && chosen.dataset.word));
    buttons.push(button);
  }
  if (buttons.length)
    document.getElementById("hint").textContent += " Choose one to see it alone.";
}
