"""Uploaded files, in the order of their way.

receive     a file arrives
checks      which files are refused, and what an accepted file is called
folder      where it is kept, so that it outlives the server
job_queue   files are indexed one after the other, by a worker process
"""
