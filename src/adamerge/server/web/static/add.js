// Sends a file and says how far it is, and then shows all uploads until they are in the store.

const MILLISECONDS = 400; // between two questions to the server
const QUARTER = 25; // percent: progress is read aloud, so it is said four times at most

const form = document.getElementById("send");
const jobs = document.getElementById("jobs");
const message = document.getElementById("sending");

let shown = "";
let arrived = false;
let following = false;

function isOpen() {
  return jobs.querySelector(".waiting, .indexing") !== null;
}

function endedJobs() {
  const items = Array.from(jobs.querySelectorAll(".done, .failed"));
  return new Map(items.map((item) => [item.dataset.job, item]));
}

function describeJob(item) {
  const parts = ["b", ".state-word", ".hint"];
  return parts.map((part) => item.querySelector(part).textContent).join(" ");
}

// Only jobs that have ended are read aloud: a screen reader would not keep up with every page.
function showJobs(html) {
  if (html === shown) return;
  const before = endedJobs();
  shown = html;
  jobs.innerHTML = html; // written by the server, which escapes what is in it
  for (const [job, item] of endedJobs()) {
    if (!before.has(job)) message.textContent = describeJob(item);
  }
}

function wait(milliseconds) {
  return new Promise((wake) => {
    setTimeout(wake, milliseconds);
  });
}

// Ask the server again and again while a job is open, or while another file has arrived.
async function followJobs() {
  arrived = true;
  if (following) return;
  following = true;
  while (arrived || isOpen()) {
    arrived = false;
    const answer = await fetch("/add/jobs").catch(() => null);
    if (!answer || !answer.ok) break;
    showJobs(await answer.text());
    await wait(MILLISECONDS);
  }
  following = false;
}

function showProgress(event) {
  const percent = (100 * event.loaded) / event.total;
  const text = `Sending: ${QUARTER * Math.floor(percent / QUARTER)} %`;
  if (message.textContent !== text) message.textContent = text;
}

function showAnswer(request) {
  const answer = request.response;
  if (request.status !== 202) {
    message.textContent = (answer && answer.error) || "The server could not be reached.";
    return;
  }
  message.textContent = `${answer.name} has arrived.`;
  form.reset();
  followJobs();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const request = new XMLHttpRequest(); // fetch does not tell how much is sent
  request.open("POST", "/api/index");
  request.responseType = "json";
  request.upload.addEventListener("progress", showProgress);
  request.addEventListener("loadend", () => showAnswer(request));
  request.send(new FormData(form));
});

if (isOpen()) followJobs();

export {}; // a module: its names are its own
