"use strict";
// The form, its answers and its marks, on the page of `swzverify explore` and in notebooks. The browser
// computes nothing: it sends the form's values, puts in what comes back, and marks what the lists in the
// text say. The state is a query string.
//
// `root` is the document or the shadow root that has the form. `place` is where it stands: `body` is the
// element around all, `ask(what, query)` promises an answer, `keep(query)` is told each state, `link()` is
// its address, and `first` is the answer to begin with, or null. Then the state `text` is asked for, by default
// that of the form. Returns `open(query)`, which shows a state.
function explore(root, place, text = null) {
  const $ = (id) => root.getElementById(id);
  const all = (selector, from = root) => [...from.querySelectorAll(selector)];
  const form = $("controls");
  const fields = all("[data-default]", form);
  const field = Object.fromEntries(fields.map((each) => [each.name, each]));
  const sliders = all("[data-of]", form); // each moves the number of its field
  const PAUSE_MS = 120; // while somebody types

  // The form and its query string
  const derived = (name) =>
    (name === "layout" && field.order.value !== "layout") ||
    ((name === "coord" || name === "loops") && field.map.value !== "own");

  function query() {
    const found = new URLSearchParams();
    for (const each of fields) {
      if (each.value !== each.dataset.default && !derived(each.name)) found.set(each.name, each.value);
    }
    return found.toString();
  }

  function fill(text) {
    const given = new URLSearchParams(text);
    for (const each of fields) {
      const value = given.get(each.name) ?? each.dataset.default;
      if (each.options && ![...each.options].some((option) => option.value === value)) continue;
      each.value = value;
    }
    allow();
  }

  /** Fields that a state does not read show what follows from the others. */
  function allow() {
    for (const name of ["rows", "columns", "pad"]) field[name].disabled = field.order.value === "layout";
    for (const name of ["bits", "base", "shift"]) field[name].disabled = field.swizzle.value === "none";
    for (const name of ["layout", "coord", "loops"]) field[name].readOnly = derived(name);
    for (const each of sliders) [each.value, each.disabled] = [field[each.dataset.of].value, field[each.dataset.of].disabled];
  }

  // What comes back
  let last = null; // the last good answer
  const drawn = {}; // the parts that are in the page, so that equal ones are not put in, nor read out, again
  function show(answer) {
    tellErrors(answer.errors);
    if (answer.errors.length) return false;
    last = answer;
    $("result").hidden = false;
    put(answer.parts);
    settle(answer);
    return true;
  }

  function put(parts) {
    for (const [name, text] of Object.entries(parts)) {
      if (drawn[name] === text) continue;
      drawn[name] = text;
      const scrolled = all(".scroll", $(name)).map((each) => [each.scrollLeft, each.scrollTop]);
      $(name).innerHTML = text;
      all(".scroll", $(name)).forEach((each, place) => {
        if (scrolled[place]) [each.scrollLeft, each.scrollTop] = scrolled[place];
      });
    }
  }

  /** What follows from an answer that is in the page. */
  function settle(answer) {
    for (const [name, text] of Object.entries(answer.texts)) $(`text-${name}`).textContent = text;
    for (const [name, value] of Object.entries(answer.fields)) field[name].value = value;
    for (const option of field.group.options) option.hidden = Number(option.value) >= answer.groups;
    if (Number(field.group.value) >= answer.groups) field.group.value = "-1";
    grids();
    filter();
  }

  function tellErrors(errors) {
    for (const each of fields) {
      each.removeAttribute("aria-invalid");
      $(`e-${each.name}`).textContent = "";
    }
    const whole = [];
    for (const error of errors) {
      const text = `${error.code}: ${error.message}${error.hint ? `\n${error.hint}` : ""}`;
      if (field[error.field]) {
        field[error.field].setAttribute("aria-invalid", "true");
        $(`e-${error.field}`).textContent = text;
      } else whole.push(text);
    }
    const named = errors.filter((error) => field[error.field]).map((error) => labelOf(error.field));
    if (named.length) whole.push(`Not possible: ${[...new Set(named)].join(", ")}.`);
    if (whole.length && last) whole.push("Below is the last state that was possible.");
    $("problem").textContent = whole.join("\n");
    // what is still shown is of another state than the form's: it must not pass for its verdict
    const stale = whole.length > 0;
    for (const name of ["verdict", "result"]) $(name).classList.toggle("stale", stale);
    for (const each of all("[data-copy]")) each.disabled = stale && each.dataset.copy !== "link";
  }

  const labelOf = (name) => form.querySelector(`label[for="${name}"]`).textContent;

  // One request at a time; what was changed meanwhile goes next
  let asking = false;
  let waiting = false;
  let timer = 0;

  function later(pause) {
    clearTimeout(timer);
    timer = setTimeout(ask, pause);
  }

  async function ask() {
    clearTimeout(timer);
    if (asking) {
      waiting = true;
      return;
    }
    asking = true;
    place.body.setAttribute("aria-busy", "true");
    const sent = query();
    let answer;
    try {
      answer = await place.ask("view", sent);
    } catch {
      answer = { errors: [{ field: "", code: "", message: place.silent, hint: "" }] };
    }
    asking = false;
    if (waiting || sent !== query()) {
      waiting = false;
      if (sent !== query()) return ask();
    }
    place.body.removeAttribute("aria-busy");
    if (show(answer)) {
      remember();
      askMore(sent);
    } else buttons();
    address();
  }

  /** What other swizzles and pads would do takes longer, and comes behind. */
  async function askMore(sent) {
    try {
      const answer = await place.ask("changes", sent);
      if (sent !== query() || asking) return;
      put(answer.parts || {});
      for (const error of answer.errors || []) $("tries").textContent = `Of other swizzles and pads nothing is said: ${error.message}.`;
    } catch {
      // nobody answers any more: the next change says so
    }
  }

  // The link, and the way back
  const steps = [];
  let at = -1;

  function remember() {
    const now = query();
    if (steps[at] === now) return buttons();
    steps.splice(at + 1, Infinity, now);
    if (steps.length > 500) steps.shift();
    at = steps.length - 1;
    buttons();
  }

  const address = () => place.keep(query());

  function buttons() {
    $("undo").disabled = at < 1 && query() === steps[at];
    $("redo").disabled = at >= steps.length - 1;
  }

  function go(to) {
    if (steps[to] === undefined) return;
    at = to;
    fill(steps[at]);
    buttons();
    ask();
  }

  const undo = () => go(query() !== steps[at] ? at : at - 1); // first back from what is not possible
  const redo = () => go(at + 1);

  // Marks: a lane, its cells, and what shares its banks
  const list = (each, name) => (each.dataset[name] ? each.dataset[name].split(" ") : []);
  const followed = () => all("#result [data-say]");
  const hint = $("trace").textContent;
  let held = null;

  function mark(of) {
    for (const each of all("#result .on, #result .with")) each.classList.remove("on", "with");
    $("trace").textContent = of ? of.dataset.say : hint;
    if (!of) return;
    const lanes = new Set(list(of, "l"));
    const banks = new Set(list(of, "b"));
    for (const each of followed()) {
      if (each === of || list(each, "l").some((lane) => lanes.has(lane))) each.classList.add("on");
      else if (list(each, "b").some((bank) => banks.has(bank))) each.classList.add("with");
    }
  }

  let filtered = false;

  function filter() {
    const bank = field.bank.value;
    const group = field.group.value;
    const none = bank === "-1" && group === "-1";
    if (none && !filtered) return;
    filtered = !none;
    for (const each of followed()) {
      const fits = (bank === "-1" || list(each, "b").includes(bank)) && (group === "-1" || list(each, "g").includes(group));
      if (each.tagName === "TR") each.hidden = !fits;
      else each.classList.toggle("dim", !fits);
    }
  }

  const over = (event) => (event.target.closest ? event.target.closest("#result [data-say]") : null);
  $("result").addEventListener("pointerover", (event) => mark(over(event) || held));
  $("result").addEventListener("pointerleave", () => mark(held));
  $("result").addEventListener("click", (event) => {
    const hit = over(event);
    if (!hit) return;
    if (!hit.hasAttribute("tabindex")) hit.tabIndex = -1;
    hit.focus({ preventScroll: true });
  });
  $("result").addEventListener("focusin", (event) => { held = over(event); mark(held); });
  $("result").addEventListener("focusout", () => { held = null; mark(null); });

  // A table is one stop of the Tab key; arrows move in it
  const TO = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };

  function grids() {
    for (const table of all("table[role=grid]")) {
      const first = table.querySelector("[data-say]");
      if (first && !table.querySelector("[tabindex='0']")) first.tabIndex = 0;
    }
  }

  function move(event) {
    const from = over(event);
    const to = TO[event.key];
    if (!from || event.target !== from || !to) return;
    const next = from.tagName === "TR" ? rowFrom(from, to[0]) : cellFrom(from, to);
    event.preventDefault();
    if (!next) return;
    from.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  function rowFrom(row, step) {
    let next = row;
    do next = step > 0 ? next.nextElementSibling : step < 0 ? next.previousElementSibling : null;
    while (next && next.hidden);
    return next;
  }

  function cellFrom(cell, [down, right]) {
    const rows = cell.closest("table").tBodies[0].rows;
    let row = cell.parentNode.sectionRowIndex;
    let column = cell.cellIndex;
    for (;;) {
      row += down;
      column += right;
      const next = rows[row] && rows[row].cells[column];
      if (!next || column < 1) return null;
      if (next.dataset.say) return next;
    }
  }

  // Copies
  async function copy(button) {
    const what = button.dataset.copy;
    const text = what === "link" ? place.link() : $(`text-${what}`).textContent;
    let words = `${button.textContent.replace("Copy", "Copied")}.`;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      words = what === "link" ? "Not allowed to copy: the link is the page's address." : "Not allowed to copy: the text is below.";
    }
    $("told").textContent = words;
    setTimeout(() => { if ($("told").textContent === words) $("told").textContent = ""; }, 4000);
  }

  // Start
  form.addEventListener("input", (event) => {
    const slider = "of" in event.target.dataset;
    if (slider) field[event.target.dataset.of].value = event.target.value;
    allow();
    if ("local" in event.target.dataset) {
      filter();
      remember();
      address();
    } else if (slider || event.target.tagName === "SELECT") ask();
    else later(PAUSE_MS);
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  $("undo").addEventListener("click", undo);
  $("redo").addEventListener("click", redo);
  $("reset").addEventListener("click", () => { fill(""); ask(); });
  all("[data-copy]").forEach((each) => each.addEventListener("click", () => copy(each)));
  $("result").addEventListener("keydown", move);
  place.body.addEventListener("click", (event) => {
    const link = event.target.closest("a.try");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    fill(new URL(link.href).search);
    ask();
  });
  place.body.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || event.altKey || (key !== "z" && key !== "y")) return;
    event.preventDefault();
    if (key === "y" || event.shiftKey) redo();
    else undo();
  });

  $("tools").hidden = $("trace").hidden = false;
  if (text === null) allow();
  else fill(text);
  const first = place.first;
  if (!first) ask();
  else if (show(first)) remember();

  return (wanted) => {
    if (wanted === query()) return;
    fill(wanted);
    ask();
  };
}
