// A row of the plan -> text.

import { fixed, percent, whole } from "../../html_file/web/format.js";

const UNITS = ["B", "kB", "MB", "GB"];

// 15,234 -> 15.2 kB
export function size(bytes) {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = value < 100 && !Number.isInteger(value) ? 1 : 0;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

export function interval(row) {
  return `${fixed(row.low)} to ${fixed(row.high)}`;
}

export function figuresOf(row) {
  return [
    ["Bytes a page", whole(Math.round(row.bytes_per_page))],
    ["Vectors a page", whole(Math.round(row.rows_per_page))],
    ["Compression", percent(row.compression)],
    ["Agreement", fixed(row.agreement)],
    ["Expected loss of nDCG@5", fixed(row.expected_loss)],
    ["Interval", interval(row)],
  ];
}

export function sentenceOf(row) {
  const parts = [
    row.method,
    `${size(row.bytes_per_page)} a page`,
    `expected loss ${fixed(row.expected_loss)}`,
    `interval ${interval(row)}`,
  ];
  if (row.chosen) parts.push("chosen");
  return parts.join(", ");
}
