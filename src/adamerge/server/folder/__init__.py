"""A folder of files that is served: its store is made, and kept up to date, while people search.

listing   what lies in the folder, to notice that something has changed
indexer   brings the store up to date by a worker process, and says how far it is
"""
