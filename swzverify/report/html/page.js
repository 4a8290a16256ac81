"use strict";
// The report is whole without this script. It filters what is there, and follows a lane through the
// table and the picture of a counterexample. It computes nothing: every number is text of the page.
(() => {
  const $ = (id) => document.getElementById(id);
  const all = (root, selector) => [...root.querySelectorAll(selector)];
  const claims = all(document, ".claim");
  const specs = all(document, ".spec");

  // Filters
  const [outcome, kind, spec, text] = ["f-outcome", "f-kind", "f-spec", "f-text"].map($);
  const words = new Map();
  const said = (claim) => {
    if (!words.has(claim)) {
      const parts = all(claim, ":scope > summary, :scope > dl").map((part) => part.textContent);
      words.set(claim, `${claim.closest(".spec").dataset.spec} ${parts.join(" ")}`.toLowerCase());
    }
    return words.get(claim);
  };
  const count = (claim) => Number(claim.dataset.count || 1);
  const total = claims.reduce((sum, claim) => sum + count(claim), 0);

  function filter() {
    const needles = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const section of specs) {
      let inside = 0;
      for (const claim of all(section, ".claim")) {
        const { outcome: how, state, kind: what } = claim.dataset;
        const fits =
          (!outcome.value || outcome.value === how || outcome.value === state) &&
          (!kind.value || kind.value === what) &&
          (!spec.value || spec.value === section.dataset.spec) &&
          needles.every((needle) => said(claim).includes(needle));
        claim.hidden = !fits;
        inside += fits ? count(claim) : 0;
      }
      section.hidden = !inside;
      shown += inside;
    }
    $("f-shown").textContent = `${shown} of ${total} claims shown`;
  }

  const form = $("filters");
  if (form) {
    form.hidden = false;
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(filter));
    const toggle = (open) => () => claims.forEach((claim) => { if (!claim.hidden) claim.open = open; });
    $("f-open").addEventListener("click", toggle(true));
    $("f-close").addEventListener("click", toggle(false));
    filter();
  }

  // A link to a claim opens it, whatever the filters hid
  function follow() {
    const claim = claims.find((each) => `#${each.id}` === location.hash);
    const section = specs.find((each) => `#${each.id}` === location.hash);
    const there = claim || section;
    if (!there) return;
    if (form && (there.hidden || there.closest(".spec").hidden)) {
      form.reset();
      filter();
    }
    if (claim) {
      claim.open = true;
      claim.querySelector("summary").focus();
    }
    there.scrollIntoView({ block: "start" });
  }
  addEventListener("hashchange", follow);
  follow();

  // Counterexamples: a row is a lane; it marks its cells of the picture and the rows marked alike
  const lanesOf = (cell) => cell.dataset.lanes.split(" ");

  function steps(row) {
    const heads = [...row.closest("table").tHead.rows[0].cells];
    const found = [];
    [...row.cells].forEach((cell, place) => {
      const value = cell.textContent;
      if (place === 0 || value === "-") return;
      if (heads[place].textContent === "hex") found[found.length - 1] += ` (${value})`;
      else found.push(`${heads[place].textContent} ${value}`);
    });
    return found;
  }

  function alike(row) {
    const mark = row.cells[0].textContent;
    return mark ? all(row.parentNode, "tr").filter((each) => each !== row && each.cells[0].textContent === mark) : [];
  }

  function mark(box, row, others = row ? alike(row) : [], how = "marked alike") {
    all(box, ".on, .with").forEach((each) => each.classList.remove("on", "with"));
    const trace = box.querySelector(".trace");
    if (!row) {
      trace.textContent = trace.dataset.hint;
      return;
    }
    row.classList.add("on");
    others.forEach((each) => each.classList.add("with"));
    const lanes = new Set(others.map((each) => each.dataset.lane));
    all(box, "[data-lanes]").forEach((cell) => {
      if (lanesOf(cell).includes(row.dataset.lane)) cell.classList.add("on");
      else if (lanesOf(cell).some((lane) => lanes.has(lane))) cell.classList.add("with");
    });
    const numbers = others.map((each) => each.dataset.lane).filter((lane) => lane !== undefined);
    const also = numbers.length ? `; ${how}: lane${numbers.length > 1 ? "s" : ""} ${numbers.join(", ")}` : "";
    trace.textContent = steps(row).join(" \u2192 ") + also;
  }

  for (const box of all(document, ".case")) {
    const table = box.querySelector("table.lanes");
    if (!table) continue;
    const rows = [...table.tBodies[0].rows];
    const trace = box.querySelector(".trace");
    trace.hidden = false;
    trace.textContent = trace.dataset.hint;
    table.setAttribute("role", "grid");
    let held = null; // what has the keyboard's focus, to which the marks return when a pointer leaves
    const hold = (row) => {
      held = row;
      rows.forEach((each) => { each.tabIndex = each === (row || rows[0]) ? 0 : -1; });
      mark(box, row);
    };
    hold(null);
    rows.forEach((row, place) => {
      row.addEventListener("pointerenter", () => mark(box, row));
      row.addEventListener("focus", () => hold(row));
      row.addEventListener("blur", () => { held = null; mark(box, null); });
      row.addEventListener("click", () => row.focus());
      row.addEventListener("keydown", (event) => {
        const to = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: rows.length - 1 }[event.key];
        if (to === undefined || !rows[to]) return;
        event.preventDefault();
        rows[to].focus();
      });
    });
    const back = () => mark(box, held);
    table.addEventListener("pointerleave", back);
    for (const cell of all(box, "[data-lanes]")) {
      const inside = rows.filter((each) => lanesOf(cell).includes(each.dataset.lane));
      if (!inside.length) continue;
      const [first, ...others] = inside;
      const cellmates = others.length ? [others, "in the same cell"] : [];
      cell.addEventListener("pointerenter", () => mark(box, first, ...cellmates));
      cell.addEventListener("pointerleave", back);
      cell.addEventListener("click", () => first.focus({ preventScroll: true }));
    }
  }
})();
