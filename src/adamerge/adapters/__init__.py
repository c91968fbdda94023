"""adamerge inside other libraries.

Our methods: sentence_transformers.py, colpali_engine.py and mteb.py.
Our stores: langchain.py, llama_index.py and haystack.py, each a retriever over the function in retrieval.py.
"""
