"""Compare your own encoding with two others, and keep a report that opens in any browser."""

from mine import Mine

import locant

if __name__ == "__main__":
    result = locant.lab.compare("order", encodings=["rotary", "alibi", Mine], quick=True)
    print(result.verdict)
    print(result.table())
    result.to_html("order.html")
