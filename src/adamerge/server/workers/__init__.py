"""Uploads, and the processes that read strangers' files.

receive          a file arrives and is checked
upload_folder    where it is kept, so that it outlives the server
upload_queue     files are indexed one after the other
client           starts, watches and stops a worker process
worker_process   runs in a process of its own: opens the file, encodes it, writes the store
"""
