// Sends a file with a bar, and then asks how far it is until it is in the store.
"use strict";
{
  const form = document.getElementById("send");
  const list = document.getElementById("jobs");
  const sending = document.getElementById("sending");
  const STEP = 400; // ms between two questions

  const words = (job) => {
    if (job.error) return job.error;
    if (job.state === "done")
      return `${job.added} added, ${job.unchanged} unchanged, ${job.skipped.length} skipped`;
    return job.total ? `${job.done} of ${job.total} pages` : "waiting";
  };

  const made = (tag, className, text) => {
    const element = document.createElement(tag);
    element.className = className;
    element.textContent = text;
    return element;
  };

  const draw = (job) => {
    const item = document.createElement("li");
    item.className = `card job ${job.state}`;
    item.dataset.job = job.id;
    const bar = document.createElement("progress");
    bar.max = job.total || 1;
    bar.value = job.state === "done" ? bar.max : job.done;
    bar.setAttribute("aria-label", `Pages of ${job.name} indexed`);
    item.append(made("b", "", job.name), " ", made("span", "state-word", job.state), bar, made("p", "hint", words(job)));
    for (const why of job.skipped) item.append(made("p", "hint", why));
    const old = list.querySelector(`[data-job="${job.id}"]`);
    if (old) old.replaceWith(item);
    else list.prepend(item);
    document.getElementById("none").hidden = true;
  };

  const follow = async (id) => {
    for (;;) {
      const answer = await fetch(`/api/index/${id}`);
      if (!answer.ok) return;
      const job = await answer.json();
      draw(job);
      if (job.state === "done" || job.state === "failed") return;
      await new Promise((wake) => setTimeout(wake, STEP));
    }
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const request = new XMLHttpRequest(); // fetch does not tell how much is sent
    request.open("POST", "/api/index");
    request.responseType = "json";
    request.upload.addEventListener("progress", (sent) => {
      sending.textContent = `Sending: ${Math.round((100 * sent.loaded) / sent.total)} %`;
    });
    request.addEventListener("loadend", () => {
      const answer = request.response;
      if (request.status !== 202) {
        sending.textContent = (answer && answer.error) || "The server could not be reached.";
        return;
      }
      sending.textContent = `${answer.name} has arrived.`;
      form.reset();
      follow(answer.id);
    });
    request.send(new FormData(form));
  });

  for (const item of list.querySelectorAll(".waiting, .indexing")) follow(item.dataset.job);
}
