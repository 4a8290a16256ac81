"""The page of `swzverify explore`: a layout and an access that are changed in a browser.

`state` is what people can change on the page, and its query string; `spec_text` makes a spec of it,
and `view` judges that spec as `prove`, `show` and `explain` do. `fragments` are its pieces of HTML.
A `worker` process computes them, within its time; `guard` says whom the server answers, `server` is
the Flask app. `cell` shows the page in a notebook, by the `widget`. The browser computes nothing.
"""
