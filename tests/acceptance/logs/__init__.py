"""`whocall resolve` on logs of many kinds, most of them written by the tools that write them."""
