// The theme follows the system until the button is used.
//
// The server loads this file as a plain script in the head of its pages, and not as a module: a module runs after the
// first paint, and the page would flash. So it imports and exports nothing, and its block keeps its names to itself.
"use strict";
{
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const storage = findStorage();

  function findStorage() {
    try {
      return window.localStorage;
    } catch {
      return {}; // in a sandbox there is none
    }
  }

  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  }

  function listen() {
    const button = document.getElementById("theme");

    function nameButton() {
      button.textContent = isDark() ? "Light theme" : "Dark theme";
    }

    button.addEventListener("click", () => {
      const theme = isDark() ? "light" : "dark";
      root.dataset.theme = theme;
      storage.theme = theme;
      nameButton();
    });
    system.addEventListener("change", nameButton);
    button.hidden = false;
    nameButton();
  }

  if (storage.theme === "dark" || storage.theme === "light") root.dataset.theme = storage.theme;
  document.addEventListener("DOMContentLoaded", listen);
}
