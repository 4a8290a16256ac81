"use strict";
// The page: its server answers, and the state is its address.
(() => {
  const failed = (error) => ({ errors: [{ field: "", ...error }] });
  explore(document, {
    body: document.body,
    first: JSON.parse(document.getElementById("first").textContent),
    silent: "No answer: is `swzverify explore` still running?",
    link: () => location.href,
    keep: (query) => history.replaceState(null, "", query ? `/?${query}` : "/"),
    ask: async (what, query) => {
      const response = await fetch(`/${what}?${query}`, { headers: { Accept: "application/json" } });
      const answer = await response.json();
      return response.ok ? answer : failed(answer.error);
    },
  });
})();
