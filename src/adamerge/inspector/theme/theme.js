// The theme follows the system until the button is used. Loaded before the page is drawn, so that it does not flash.
"use strict";
{
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const storage = (() => {
    try {
      return localStorage;
    } catch {
      return {}; // in a sandbox there is none
    }
  })();
  if (storage.theme === "dark" || storage.theme === "light") root.dataset.theme = storage.theme;
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const name = () => (button.textContent = dark() ? "Light theme" : "Dark theme");
    button.addEventListener("click", () => {
      root.dataset.theme = storage.theme = dark() ? "light" : "dark";
      name();
    });
    system.addEventListener("change", name);
    button.hidden = false;
    name();
  });
}
