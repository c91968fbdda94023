"""A store for agents, by the Model Context Protocol. Needs the extra `mcp`.

answers.py    what the tools answer
tools.py      the tools: search, read_page, list_files
server.py     the tools as a server: on standard input and output, or on HTTP
"""
