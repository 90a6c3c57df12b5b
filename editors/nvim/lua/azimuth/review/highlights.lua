--- The groups of review, as links to the standard groups.

local highlights = require("azimuth.highlights")

local M = {}

M.groups = {
  AzimuthAdd = "DiffAdd",
  AzimuthAddText = "DiffText",
  AzimuthAddSign = "Added",
  AzimuthChangeSign = "Changed",
  AzimuthDelete = "DiffDelete",
  AzimuthDeleteText = "DiffText",
  AzimuthDeleteSign = "Removed",
  AzimuthConflict = "DiagnosticVirtualTextWarn",
  AzimuthConflictSign = "DiagnosticSignWarn",
}

highlights.groups = vim.tbl_extend("force", highlights.groups, M.groups)
highlights.set()

return M
