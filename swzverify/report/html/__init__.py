"""The report as one HTML page: nothing is fetched, and it is whole without its script.

`page` is the page, `claim` a claim of it, `picture` a picture as a table, `assets` the style sheet
and the script, with the hashes by which the page's policy allows them and nothing else.
"""
