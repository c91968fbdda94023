"""The store as the server reads it.

store_reader    searches, pages and numbers
query_batcher   queries that wait are answered together
query_words     the words of a query, from the tokens of its encoder
thread_slots    blocking work in a bounded number of threads
"""
