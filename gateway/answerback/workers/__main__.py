"""`python -m answerback.workers`: a worker; the gateway starts it, with a socket as its standard input."""

from answerback.workers.inside import main

if __name__ == "__main__":  # an agent's own processes (multiprocessing) import this module once more
    main()
