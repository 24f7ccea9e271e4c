"""The explorer: a local page on which every encoding can be looked at, shuffled, certified and compared.

The page's own process holds no torch: it checks what is asked (asked.py), hands it to a worker that can be ended
(lanes.py), and passes on numbers. Formulas live in the encodings alone; the page in `page/` draws what it is sent.

    asked.py      what may be asked, and its bounds       guard.py   who may ask
    server.py     the addresses                            lanes.py   where the work is done, and for how long at most
    orders.py     what an order of words can show
    pictures.py, workings.py, shuffling.py, attending.py, measuring.py, studies.py     one kind of answer each
"""
