// The number of a colour -> the colour. Which group has which number, group_colours.py decides.

const PALETTE = [
  "#2f74d0",
  "#f08a24",
  "#2f9e63",
  "#dc3f45",
  "#8a5fd0",
  "#0fa3a8",
  "#e06bb4",
  "#8d9a10",
  "#8b5a3c",
  "#3a3fb5",
  "#6cbf3a",
  "#b01693",
];
const GOLDEN_ANGLE = 137.508; // turns a hue far from all that came before

export function colourOf(number) {
  if (number < PALETTE.length) return PALETTE[number];
  const hue = Math.round(number * GOLDEN_ANGLE) % 360;
  const lightness = 38 + (number % 3) * 9;
  return `hsl(${hue} 65% ${lightness}%)`;
}
