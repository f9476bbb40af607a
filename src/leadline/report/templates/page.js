// Draws the figures, hides and shows their series, sorts the tables. No network, no state but the page's own.
"use strict";
(() => {
  const config = JSON.parse(document.getElementById("figure-config").textContent);
  const report = (window.leadline = { views: {}, failed: {}, ready: false });

  // The names that a figure's legend has switched off; of "choice" buttons the one that is on.
  function hiddenNames(figure) {
    return [...figure.querySelectorAll('.legend button[aria-pressed="false"]')].map((b) => b.dataset.name);
  }

  function chosenName(figure) {
    return figure.querySelector('.legend button[data-kind="choice"][aria-pressed="true"]')?.dataset.name;
  }

  async function apply(figure) {
    const view = report.views[figure.querySelector(".plot").dataset.figure];
    if (!view) return;
    const chosen = chosenName(figure);
    if (chosen === undefined) view.signal("hidden", hiddenNames(figure));
    else view.signal("chosen", chosen);
    await view.runAsync();
  }

  function press(button) {
    const figure = button.closest("figure");
    if (button.dataset.kind === "choice") {
      for (const other of figure.querySelectorAll('button[data-kind="choice"]')) {
        other.setAttribute("aria-pressed", String(other === button));
      }
    } else {
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
    }
    apply(figure);
  }

  // Shows what the button names alone among its kind, or everything when it is alone already.
  function isolate(button) {
    const others = [...button.parentElement.querySelectorAll("button")].filter((other) => other !== button);
    const alone = others.every((other) => other.getAttribute("aria-pressed") === "false");
    button.setAttribute("aria-pressed", "true");
    for (const other of others) other.setAttribute("aria-pressed", String(alone));
    apply(button.closest("figure"));
  }

  async function draw(plot) {
    const name = plot.dataset.figure;
    const spec = JSON.parse(document.getElementById(`spec-${name}`).textContent);
    try {
      const options = { renderer: "svg", actions: false, config, tooltip: { theme: "leadline" } };
      report.views[name] = (await vegaEmbed(plot, spec, options)).view;
    } catch (problem) {
      report.failed[name] = String(problem);
      plot.textContent = `This figure could not be drawn (${problem}); its numbers are in the table below.`;
      plot.classList.add("undrawn");
    }
  }

  // One figure after another, with the page free to answer in between.
  async function drawAll() {
    for (const plot of document.querySelectorAll(".plot")) {
      await draw(plot);
      await new Promise((resume) => setTimeout(resume, 0));
    }
    report.ready = true;
  }

  function sortKey(row, column) {
    const cell = row.cells[column];
    const number = parseFloat(cell.dataset.sort);
    return Number.isNaN(number) ? cell.textContent : number;
  }

  function sort(heading) {
    const body = heading.closest("table").tBodies[0];
    const downward = heading.getAttribute("aria-sort") === "ascending";
    for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", downward ? "descending" : "ascending");
    const keyed = [...body.rows].map((row) => [sortKey(row, heading.cellIndex), row]);
    // Numbers stand before words, as in the tables before anyone sorted them.
    const order = ([a], [b]) =>
      typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
    keyed.sort(downward ? (a, b) => order(b, a) : order);
    body.append(...keyed.map(([, row]) => row));
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".legend button");
    if (button) press(button);
    const heading = event.target.closest("table.sortable th");
    if (heading) sort(heading);
  });

  document.addEventListener("dblclick", (event) => {
    const button = event.target.closest(".legend button");
    if (button && button.dataset.kind !== "choice") isolate(button);
  });

  // On a narrow window the contents would push the results off the first screen.
  if (window.matchMedia("(max-width: 75rem)").matches) {
    document.querySelector(".contents details").removeAttribute("open");
  }
  drawAll();
})();
