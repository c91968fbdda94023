"""The processes that open the files of strangers.

client           starts, watches and stops a worker process
worker_process   what runs there: it limits its own memory, then does one task after the other
tasks            index a file or a folder, remove a file, draw a page, inspect a page
"""
