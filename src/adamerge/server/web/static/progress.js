// Shows how far the folder is, until it is done; the end is read aloud, and a page of files is loaded again.

const MILLISECONDS = 1000; // between two questions to the server

const card = document.getElementById("progress");
const said = document.getElementById("said");

function isOpen() {
  return card.querySelector("[data-open]") !== null;
}

function wait() {
  return new Promise((wake) => {
    setTimeout(wake, MILLISECONDS);
  });
}

async function follow() {
  while (isOpen()) {
    await wait();
    const answer = await fetch("/progress").catch(() => null);
    if (!answer || !answer.ok) return;
    card.innerHTML = await answer.text(); // written by the server, which escapes what is in it
  }
  said.textContent = card.textContent.trim().replace(/\s+/g, " ");
  card.insertAdjacentHTML("beforeend", '<p><a href="">Show what is new</a></p>');
}

if (isOpen()) follow();

export {}; // a module: its names are its own
