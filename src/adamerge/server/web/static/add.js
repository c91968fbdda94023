// Sends a file with a bar, and then shows how far all are until they are in the store.
"use strict";
{
  const form = document.getElementById("send");
  const jobs = document.getElementById("jobs");
  const sending = document.getElementById("sending");
  const STEP = 400; // ms between two questions
  const open = () => jobs.querySelector(".waiting, .indexing");
  const ended = () => new Map(Array.from(jobs.querySelectorAll(".done, .failed"), (item) => [item.dataset.job, item]));
  let [shown, added, following] = ["", false, false];

  // Only what has ended is said aloud: a screen reader would not keep up with every page.
  const draw = (html) => {
    if (html === shown) return;
    const before = ended();
    jobs.innerHTML = shown = html; // written by the server, which escapes what is in it
    for (const [job, item] of ended())
      if (!before.has(job))
        sending.textContent = ["b", ".state-word", ".hint"].map((part) => item.querySelector(part).textContent).join(" ");
  };

  const follow = async () => {
    added = true;
    if (following) return;
    following = true;
    while (added || open()) {
      added = false;
      const answer = await fetch("/add/jobs").catch(() => null);
      if (!answer || !answer.ok) break;
      draw(await answer.text());
      await new Promise((wake) => setTimeout(wake, STEP));
    }
    following = false;
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const request = new XMLHttpRequest(); // fetch does not tell how much is sent
    request.open("POST", "/api/index");
    request.responseType = "json";
    request.upload.addEventListener("progress", (sent) => {
      const text = `Sending: ${25 * Math.floor((4 * sent.loaded) / sent.total)} %`; // said aloud four times at most
      if (sending.textContent !== text) sending.textContent = text;
    });
    request.addEventListener("loadend", () => {
      const answer = request.response;
      if (request.status !== 202) {
        sending.textContent = (answer && answer.error) || "The server could not be reached.";
        return;
      }
      sending.textContent = `${answer.name} has arrived.`;
      form.reset();
      follow();
    });
    request.send(new FormData(form));
  });

  if (open()) follow();
}
