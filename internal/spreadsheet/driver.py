"""Runs solution.py with INPUT_PATH and OUTPUT_PATH as globals.

Statements that assign to these two names are taken out of its syntax tree, so that lines, texts over
several lines and imports from __future__ stay as they are.
"""
import ast
import os
import sys
import traceback
import types

FILE = "solution.py"
PATHS = {"INPUT_PATH": os.path.abspath(sys.argv[1]), "OUTPUT_PATH": os.path.abspath(sys.argv[2])}


def is_path(target):
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(is_path(t) for t in target.elts)
    return isinstance(target, ast.Name) and target.id in PATHS


class KeepPaths(ast.NodeTransformer):
    """Removes assignments to the paths, and renames their targets where something else is assigned too."""

    def visit_Assign(self, node):
        if all(is_path(t) for t in node.targets):
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_AnnAssign(self, node):
        if is_path(node.target):
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_Name(self, node):
        if node.id in PATHS and isinstance(node.ctx, ast.Store):
            return ast.copy_location(ast.Name(id="_", ctx=ast.Store()), node)
        return node


def run():
    with open(FILE, "rb") as f:
        source = f.read()
    tree = ast.fix_missing_locations(KeepPaths().visit(ast.parse(source, FILE)))
    code = compile(tree, FILE, "exec", dont_inherit=True)
    module = types.ModuleType("__main__")
    module.__dict__.update(PATHS, __file__=os.path.abspath(FILE), __builtins__=__builtins__)
    sys.modules["__main__"] = module
    sys.argv = [FILE]
    exec(code, module.__dict__)


try:
    run()
except SystemExit:
    raise
except BaseException as e:
    frames = e.__traceback__
    while frames is not None and frames.tb_frame.f_globals is globals():
        frames = frames.tb_next  # the program's own come first
    traceback.print_exception(type(e), e, frames)
    sys.exit(1)
