// Sends files, chosen or dropped, and says how far they are; then shows all uploads until they are in the store.

const MILLISECONDS = 400; // between two questions to the server
const QUARTER = 25; // percent: progress is read aloud, so it is said four times at most

const form = document.getElementById("send");
const jobs = document.getElementById("jobs");
const message = document.getElementById("sending");
const refused = document.getElementById("refused");

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

function showProgress(event, name) {
  const percent = (100 * event.loaded) / event.total;
  const text = `Sending ${name}: ${QUARTER * Math.floor(percent / QUARTER)} %`;
  if (message.textContent !== text) message.textContent = text;
}

// The answer of the server to a file: its job, or why it was refused.
function send(file) {
  const request = new XMLHttpRequest(); // fetch does not tell how much is sent
  request.open("POST", "/api/index");
  request.responseType = "json";
  request.upload.addEventListener("progress", (event) => showProgress(event, file.name));
  const content = new FormData();
  content.append("file", file);
  return new Promise((done) => {
    request.addEventListener("loadend", () => {
      const answer = request.response || {};
      const error = answer.error || "the server could not be reached";
      done(request.status === 202 ? { name: answer.name } : { name: file.name, error });
    });
    request.send(content);
  });
}

function showRefused(answers) {
  refused.hidden = answers.length === 0;
  refused.replaceChildren();
  for (const { name, error } of answers) {
    const item = document.createElement("li");
    item.textContent = `${name}: ${error}`;
    refused.append(item);
  }
}

// One file after the other: the server takes each by itself, and one that it refuses does not hold up the rest.
async function sendAll(files) {
  const failed = [];
  const names = [];
  showRefused(failed);
  for (const file of files) {
    const answer = await send(file);
    if (answer.error) {
      failed.push(answer);
    } else {
      names.push(answer.name);
      followJobs();
    }
    showRefused(failed);
  }
  message.textContent = describeSent(names, failed.length);
  if (failed.length === 0) form.reset();
}

function describeSent(names, refusedCount) {
  let text = `${names.length} files have arrived.`;
  if (names.length === 1) text = `${names[0]} has arrived.`;
  if (refusedCount > 0) text += ` ${refusedCount} refused:`;
  return text;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  sendAll(Array.from(form.elements.file.files));
});

for (const name of ["dragenter", "dragover"]) {
  form.addEventListener(name, (event) => {
    event.preventDefault(); // else the browser opens the file
    form.classList.add("over");
  });
}

form.addEventListener("dragleave", () => form.classList.remove("over"));

form.addEventListener("drop", (event) => {
  event.preventDefault();
  form.classList.remove("over");
  sendAll(Array.from(event.dataTransfer.files));
});

document.getElementById("drop-hint").hidden = false;
if (isOpen()) followJobs();

export {}; // a module: its names are its own
