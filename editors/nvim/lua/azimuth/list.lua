--- A list in a floating window, drawn anew whenever what it lists changes, with keys for the item at the cursor.

local text = require("azimuth.text")
require("azimuth.highlights")

local M = {}

local namespace = vim.api.nvim_create_namespace("azimuth.list")

---@class azimuth.ListKey
---@field key string
---@field desc string
---@field run fun(item: any) Called with the item at the cursor; without an item only where `always` is set.
---@field always? boolean

---@class azimuth.ListOptions
---@field title string
---@field footer string[] The keys, the weightiest first.
---@field draw fun(width: integer): azimuth.Block, table<integer, any> What it shows, and the item at each line, from 1.
---@field keys azimuth.ListKey[]
---@field id? fun(item: any): string Tells the items apart, so that the cursor stays on its item.
---@field wrap? boolean
---@field closed? fun()

---@class azimuth.List
---@field bufnr integer
---@field window integer
---@field options azimuth.ListOptions
---@field items table<integer, any>
---@field block? azimuth.Block What is drawn.
local List = {}
List.__index = List

---@return boolean
function List:is_open()
  return vim.api.nvim_win_is_valid(self.window) and vim.api.nvim_win_get_buf(self.window) == self.bufnr
end

function List:close()
  if self:is_open() then
    vim.api.nvim_win_close(self.window, true)
  end
end

---@return integer
local function wanted_width()
  return math.max(20, math.min(110, vim.o.columns - 6))
end

---@param options azimuth.ListOptions
---@param lines integer
---@return vim.api.keyset.win_config
local function settings(options, lines)
  local width = wanted_width()
  local height = math.max(1, math.min(lines, vim.o.lines - 8))
  return {
    relative = "editor",
    width = width,
    height = height,
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 2),
    col = math.floor((vim.o.columns - width) / 2),
    border = "rounded",
    style = "minimal",
    title = text.shortened((" %s "):format(options.title), width - 2),
    footer = text.fit(options.footer, width),
  }
end

--- The line, from 1, at which an item begins.
---@param id string
---@return integer?
function List:line_of(id)
  local lines = vim.tbl_keys(self.items)
  table.sort(lines)
  for _, line in ipairs(lines) do
    if self.options.id(self.items[line]) == id then
      return line
    end
  end
end

--- Shows what there is now. The cursor stays on its item: a key must not mean another one because the list has changed.
function List:draw()
  if not vim.api.nvim_buf_is_valid(self.bufnr) then
    return
  end
  local cursor = self:is_open() and vim.api.nvim_win_get_cursor(self.window)
  local item = cursor and self.items[cursor[1]]
  local id = item and self.options.id and self.options.id(item)
  local within = id and cursor[1] - self:line_of(id)
  local block
  block, self.items = self.options.draw(wanted_width())
  if not vim.deep_equal(block, self.block) then
    self.block = block
    self:put(block)
  end
  local line = id and self:line_of(id)
  if line then
    vim.api.nvim_win_set_cursor(self.window, { math.min(line + within, #block.lines), cursor[2] })
  end
  if self:is_open() then
    local rows = vim.api.nvim_win_text_height(self.window, {}).all
    local wanted = settings(self.options, rows)
    if vim.api.nvim_win_get_height(self.window) ~= wanted.height or vim.api.nvim_win_get_width(self.window) ~= wanted.width then
      vim.api.nvim_win_set_config(self.window, wanted)
    end
  end
end

---@param block azimuth.Block
function List:put(block)
  vim.bo[self.bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(self.bufnr, 0, -1, false, block.lines)
  vim.bo[self.bufnr].modifiable = false
  vim.api.nvim_buf_clear_namespace(self.bufnr, namespace, 0, -1)
  for _, mark in ipairs(block.marks) do
    vim.api.nvim_buf_set_extmark(self.bufnr, namespace, mark.row, mark.col, {
      end_col = mark.end_col or #block.lines[mark.row + 1],
      hl_group = mark.group,
    })
  end
end

--- Opens a list, and goes there.
---@param options azimuth.ListOptions
---@return azimuth.List
function M.open(options)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].modeline = false
  local list = setmetatable({ bufnr = bufnr, window = -1, options = options, items = {} }, List)
  list:draw()
  vim.cmd.stopinsert()
  list.window = vim.api.nvim_open_win(bufnr, true, settings(options, vim.api.nvim_buf_line_count(bufnr)))
  for name, value in pairs({ cursorline = not options.wrap, wrap = options.wrap == true, linebreak = true, breakindent = true }) do
    vim.api.nvim_set_option_value(name, value, { scope = "local", win = list.window })
  end
  -- Only the window itself knows how its lines wrap.
  list:draw()
  local function map(key, desc, run)
    vim.keymap.set("n", key, run, { buffer = bufnr, nowait = true, desc = "Azimuth: " .. desc })
  end
  for _, key in ipairs(options.keys) do
    map(key.key, key.desc, function()
      local item = list.items[vim.api.nvim_win_get_cursor(list.window)[1]]
      if item ~= nil or key.always then
        key.run(item)
      end
    end)
  end
  for _, key in ipairs({ "q", "<Esc>" }) do
    map(key, "close", function()
      list:close()
    end)
  end
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = bufnr,
    once = true,
    callback = function()
      if options.closed then
        options.closed()
      end
    end,
  })
  return list
end

return M
