// The picture of a page in several sizes; a sharper picture is loaded when the first larger size is chosen.

const PERCENTS = [100, 150, 200, 300, 450]; // the sizes, as .zoom-1 and so on have them in app.css

const viewport = document.getElementById("viewport");
const figure = document.getElementById("figure");
const picture = figure.querySelector("img");
const smaller = document.getElementById("smaller");
const larger = document.getElementById("larger");
const percent = document.getElementById("percent");
let size = 0;

// Keep what is in the middle of the picture in the middle.
function keepMiddle(change) {
  const across = (viewport.scrollLeft + viewport.clientWidth / 2) / viewport.scrollWidth;
  const down = (viewport.scrollTop + viewport.clientHeight / 2) / viewport.scrollHeight;
  change();
  viewport.scrollLeft = across * viewport.scrollWidth - viewport.clientWidth / 2;
  viewport.scrollTop = down * viewport.scrollHeight - viewport.clientHeight / 2;
}

function show(next) {
  keepMiddle(() => {
    figure.classList.remove(`zoom-${size}`);
    figure.classList.add(`zoom-${next}`);
    viewport.classList.toggle("zoomed", next > 0);
  });
  size = next;
  viewport.tabIndex = size > 0 ? 0 : -1; // the keyboard scrolls what is larger than its frame
  smaller.disabled = size === 0;
  larger.disabled = size === PERCENTS.length - 1;
  percent.textContent = `${PERCENTS[size]} %`;
  if (size > 0) loadLarger();
}

function loadLarger() {
  const address = picture.dataset.larger;
  if (!address) return;
  delete picture.dataset.larger;
  const sharp = new Image();
  sharp.addEventListener("load", () => {
    picture.src = address;
  });
  sharp.src = address;
}

smaller.addEventListener("click", () => show(size - 1));
larger.addEventListener("click", () => show(size + 1));
document.getElementById("zoom").hidden = false;
show(0);

export {}; // a module: its names are its own
