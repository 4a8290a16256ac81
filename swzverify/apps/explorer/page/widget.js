// The page in a cell of a notebook: the kernel answers, and the state is the widget's `query`.
const SILENT_MS = 30000;

export default {
  render({ model, el }) {
    const host = document.createElement("div");
    host.dataset.lmSuppressShortcuts = "true"; // JupyterLab leaves what is typed here alone
    const root = host.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];
    root.innerHTML = `<div class="explore widget">${BODY}</div>`;
    el.append(host);

    const view = Math.random().toString(36).slice(2);
    const waiting = new Map();
    let asked = 0;
    const answered = (message) => {
      const take = waiting.get(message.number);
      waiting.delete(message.number);
      if (take) take(message.answer);
    };
    model.on("msg:custom", answered);
    const open = explore(root, {
      body: root.firstElementChild,
      first: null,
      silent: "No answer: is the kernel of the notebook still running?",
      keep: (query) => {
        model.set("query", query);
        model.save_changes();
      },
      ask: (what, query) => new Promise((resolve, reject) => {
        const number = `${view}-${++asked}`;
        waiting.set(number, resolve);
        model.send({ number, what, query });
        setTimeout(() => { if (waiting.delete(number)) reject(new Error("no answer")); }, SILENT_MS);
      }),
    }, model.get("query"));
    const changed = () => open(model.get("query"));
    model.on("change:query", changed);
    return () => {
      model.off("msg:custom", answered);
      model.off("change:query", changed);
    };
  },
};
