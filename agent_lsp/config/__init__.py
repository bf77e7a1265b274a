"""Configuration: layers of plain data, one validated model.

`initialize` is answered before pydantic is imported, so the way there needs the standard library only:

    layers  reads and merges the layers           spelling  camelCase and snake_case
    trust   what a repository may bring           places    the files and folders on this machine
    shape   a table of what certainly fits        unknown   keys that nobody knows

`settings` (with `sections`) is the pydantic model and gives the full verdict; `schema`, `facts` and `report` are for
the command line.
"""
