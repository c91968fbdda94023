// The theme follows the system until the button is used. Loaded before the page is drawn, so that it does not flash.
"use strict";
{
  const known = localStorage.getItem("theme");
  if (known === "dark" || known === "light") document.documentElement.dataset.theme = known;
  const dark = () =>
    (document.documentElement.dataset.theme ||
      (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const name = () => (button.textContent = dark() ? "Light theme" : "Dark theme");
    button.addEventListener("click", () => {
      const theme = dark() ? "light" : "dark";
      document.documentElement.dataset.theme = theme;
      localStorage.setItem("theme", theme);
      name();
    });
    button.hidden = false;
    name();
  });
}
