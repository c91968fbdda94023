"""What every request passes first.

access       who may come in, from which page; the headers of every answer
throttle     wrong tokens of one address have to wait
disconnect   a client that hangs up is not worked for
"""
