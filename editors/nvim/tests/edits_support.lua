--- The parts that the tests of suggested edits share: a text, the edits of it, and a child in normal mode.

local inline = require("inline_support")

local M = {}

M.CODE = { "local width = 2", "local height = 3", "", "local function area()", "  return width * width", "end" }
--- The edit that follows from it: the height in place of the second width.
M.HEIGHT = [[function() return { { 4, 17, 4, 22, "height" } } end]]
--- An edit of two hunks.
M.TWO = [[function() return { { 0, 6, 0, 11, "size" }, { 4, 9, 4, 22, "size * size" } } end]]
--- The second of them, after the first is accepted.
M.REST = [[_G.rest = function(hunks)
  local edit = _G.edit_of({ { 4, 9, 4, 22, "size * size" } }, vim.uri_from_bufnr(0), nil)
  edit.id, edit.hunks[1].id = "e1", "h2"
  -- The version after the change.
  local client = require("azimuth.client").lsp_client()
  edit.version = require("azimuth.lang.diagnostics").version(client.id, 0)
  return edit
end]]

--- A child in normal mode at a position of the code.
---@param cursor integer[]
---@param edits string
---@param options? table
---@return Child
function M.start(cursor, edits, options)
  options = vim.tbl_extend("keep", options or {}, { edits = edits, cursor = cursor, is_normal = true })
  return inline.start(options.code or M.CODE, options)
end

--- Waits until an edit is visible.
---@param child Child
function M.wait(child)
  child:wait("require('azimuth.inline').edit_visible()")
end

--- Waits until none is.
---@param child Child
function M.wait_gone(child)
  child:wait("not require('azimuth.inline').edit_visible()")
end

--- The rows of the window, with all that is drawn.
---@param child Child
---@return string[]
function M.shown(child)
  return child:lua("return _G.shown()")
end

--- The lines of the buffer.
---@param child Child
---@return string[]
function M.text(child)
  return child:lua("return _G.text()")
end

--- The number of requests for an edit.
---@param child Child
---@return integer
function M.asked(child)
  return child:lua("return #_G.asked('inline_edit')")
end

--- Changes the text in normal mode, so that an edit is asked for, and waits for it.
---@param child Child
---@param keys? string
function M.change(child, keys)
  inline.type(child, keys or "~~")
  M.wait(child)
end

return M
