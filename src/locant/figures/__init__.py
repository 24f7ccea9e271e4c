"""What people see: `data`, the numbers of a picture; `walkthrough`, worked arithmetic; `plots`,
drawing."""
