"""What the course shows without measuring it anew: `python -m specdec_lib.measure.recording NAME`.

`blocks`: real blocks of the built-in pair, in lessons/data/recorded.json.
`passes`: the passes of a small service, in lessons/ch06/passes.json.
`race`: the race of the README's picture, in measure/race/recorded.json.
"""
