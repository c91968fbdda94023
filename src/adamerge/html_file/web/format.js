// Numbers -> text.

export function whole(value) {
  return value.toLocaleString("en-US");
}

export function fixed(value, digits = 3) {
  if (Number.isNaN(value)) return "–";
  return value.toFixed(digits).replace("-", "−");
}

export function percent(value) {
  return `${(100 * value).toFixed(1)}%`;
}

function signOf(value) {
  if (value > 0) return "+";
  return value < 0 ? "−" : "±";
}

// With its sign, even if it is zero; `text` writes the rest.
export function signed(value, text) {
  return signOf(value) + text(Math.abs(value));
}

export function plural(count, word) {
  const ending = word.endsWith("ch") ? "es" : "s";
  return `${whole(count)} ${word}${count === 1 ? "" : ending}`;
}

// The first items, and how many more there are.
export function clipped(items, most, between) {
  const shown = items.slice(0, most);
  if (items.length > most) shown.push(`and ${whole(items.length - most)} more`);
  return shown.join(between);
}
