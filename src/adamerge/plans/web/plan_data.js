// What Python wrote into the page (plan_html.py). Rows have the fields of PlanRow, not rounded.

export const data = JSON.parse(document.getElementById("data").textContent);

// The frontier, fewest bytes first.
export const rows = data.rows;

// The place of the chosen row; -1 if there is none.
export const chosen = rows.findIndex((row) => row.chosen);
