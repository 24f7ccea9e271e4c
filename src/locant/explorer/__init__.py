"""The explorer: a local page on which every encoding can be viewed, shuffled, certified and
compared.

The server's own process imports no torch: it checks a request (schemas.py), hands it to a worker
process that can be stopped (jobs.py), and passes on the numbers. Formulas live in the encodings
alone; the page in `page/` draws what it receives.

    server.py     the application            api/              routes, one file for each tab
    schemas.py    requests and their limits  security.py       who may send them
    state.py      encodings, store, workers  errors.py         every refusal as a sentence
    startup.py    what the page loads first  serialization.py  numbers as JSON

Computed in a worker: encoding_views.py, word_order.py, attention_maps.py, studies.py, anomalies.py.
"""
