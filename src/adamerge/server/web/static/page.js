// Each word of the query becomes a button that shows its region alone.

const figure = document.getElementById("figure");
const regions = Array.from(figure.querySelectorAll(".region"));
const items = Array.from(document.querySelectorAll("#asked > *"));
const buttons = items.map(makeButton);
let chosen = null;

// The region of one word, or of all: null.
function showWord(word) {
  for (const region of regions) {
    const isOther = word !== null && region.dataset.word !== word;
    region.classList.toggle("off", isOther);
  }
  figure.classList.toggle("alone", word !== null);
}

function showChosen() {
  showWord(chosen && chosen.dataset.word);
}

function choose(button) {
  chosen = chosen === button ? null : button;
  for (const other of buttons) other.setAttribute("aria-pressed", String(other === chosen));
  showChosen();
}

// Put a button in the place of the word of an item.
function makeButton(item) {
  const token = item.querySelector(".token");
  const button = document.createElement("button");
  button.type = "button";
  button.className = token.className;
  button.dataset.word = item.dataset.word;
  button.setAttribute("aria-pressed", "false");
  button.append(...token.childNodes);
  token.replaceWith(button);

  button.addEventListener("click", () => choose(button));
  item.addEventListener("pointerenter", () => showWord(item.dataset.word));
  item.addEventListener("pointerleave", showChosen);
  return button;
}

if (buttons.length) {
  document.getElementById("hint").textContent += " Choose one to see it alone.";
}

export {}; // a module: its names are its own
