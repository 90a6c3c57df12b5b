--- The transcript: a buffer that shows a session's state, and draws only what changed.

local render = require("azimuth.render")

local M = {}

local namespace = vim.api.nvim_create_namespace("azimuth.transcript")
local found = vim.api.nvim_create_namespace("azimuth.found")
--- An entry that was looked for is marked for so long, in milliseconds.
local FOUND_MS = 2500
--- Neovim 0.10 parses the whole buffer before it draws a change; beyond this many lines that would be felt, and the
--- older highlighting by patterns takes its place. Later versions parse beside the drawing.
local MAX_PARSED = 2000
local parses_first = vim.fn.has("nvim-0.11") == 0

local RULE = ("─"):rep(300)

---@class azimuth.Transcript
---@field bufnr integer
---@field state? azimuth.State What is drawn.
---@field versions integer[] Of each entry as drawn; 0 for one that is void.
---@field heights integer[] Lines of each entry.
---@field folds table<integer, { first: integer, last: integer }> Of each entry that has one.
---@field footer integer Lines of what stands below the last entry.
---@field footer_text string
---@field is_start boolean Whether it shows what an empty session offers.
---@field highlighted? "tree"|"patterns" What highlights the Markdown.
local Transcript = {}
Transcript.__index = Transcript

---@return azimuth.Transcript
function M.new()
  local bufnr = vim.api.nvim_create_buf(false, true)
  local transcript = setmetatable({ bufnr = bufnr }, Transcript)
  vim.bo[bufnr].buftype = "nofile"
  vim.bo[bufnr].bufhidden = "hide"
  vim.bo[bufnr].swapfile = false
  vim.bo[bufnr].undolevels = -1
  vim.bo[bufnr].modeline = false
  vim.bo[bufnr].modifiable = false
  transcript:clear()
  return transcript
end

--- Forgets what is drawn.
function Transcript:clear()
  self.state = nil
  self.versions, self.heights, self.folds = {}, {}, {}
  self.footer, self.footer_text, self.is_start = 0, "", false
  vim.bo[self.bufnr].modifiable = true
  vim.api.nvim_buf_clear_namespace(self.bufnr, namespace, 0, -1)
  vim.api.nvim_buf_set_lines(self.bufnr, 0, -1, false, {})
  vim.bo[self.bufnr].modifiable = false
end

---@param bufnr integer
---@param row integer The block's first row.
---@param block azimuth.Block
local function set_marks(bufnr, row, block)
  for _, mark in ipairs(block.marks) do
    vim.api.nvim_buf_set_extmark(bufnr, namespace, row + mark.row, mark.col, {
      end_row = row + mark.row,
      end_col = mark.end_col or #block.lines[mark.row + 1],
      hl_group = mark.group,
      priority = 150,
      virt_text = mark.rule and { { " " .. RULE, "AzimuthRule" } } or nil,
      virt_text_pos = mark.rule and "eol" or nil,
      strict = false,
    })
  end
end

--- Replaces lines, but leaves alone those that stay the same at both ends, so that nothing flickers.
---@param bufnr integer
---@param first integer
---@param last integer Exclusive.
---@param lines string[]
local function replace(bufnr, first, last, lines)
  local old = vim.api.nvim_buf_get_lines(bufnr, first, last, false)
  local head = 0
  while head < #old and head < #lines and old[head + 1] == lines[head + 1] do
    head = head + 1
  end
  local tail = 0
  while tail < #old - head and tail < #lines - head and old[#old - tail] == lines[#lines - tail] do
    tail = tail + 1
  end
  if head + tail < math.max(#old, #lines) then
    vim.api.nvim_buf_set_lines(bufnr, first + head, last - tail, false, vim.list_slice(lines, head + 1, #lines - tail))
  end
end

--- Has the Markdown highlighted by what is quick enough.
function Transcript:highlight()
  local long = parses_first and vim.api.nvim_buf_line_count(self.bufnr) > MAX_PARSED
  local wanted = long and "patterns" or "tree"
  if self.highlighted == wanted then
    return
  end
  self.highlighted = wanted
  -- Without the parser the transcript is plain text, which :checkhealth says.
  if wanted == "tree" then
    vim.bo[self.bufnr].syntax = ""
    pcall(vim.treesitter.start, self.bufnr, "markdown")
  else
    pcall(vim.treesitter.stop, self.bufnr)
    vim.bo[self.bufnr].syntax = "markdown"
  end
end

--- The windows that show the transcript.
---@return integer[]
function Transcript:windows()
  return vim.tbl_filter(vim.api.nvim_win_is_valid, vim.fn.win_findbuf(self.bufnr))
end

--- Folds rows of a window, closed.
---@param window integer
---@param rows { [1]: integer, [2]: integer }[] First and last, from 0.
local function fold_rows(window, rows)
  if #rows == 0 then
    return
  end
  vim.api.nvim_win_call(window, function()
    for _, row in ipairs(rows) do
      vim.cmd(("%d,%dfold"):format(row[1] + 1, row[2] + 1))
    end
  end)
end

--- Makes all folds of a window anew. A window that shows the transcript for the first time has none.
---@param window integer
function Transcript:fold_all(window)
  local rows, row = {}, 0
  for at, height in ipairs(self.heights) do
    local fold = self.folds[at]
    if fold then
      table.insert(rows, { row + fold.first, row + fold.last })
    end
    row = row + height
  end
  vim.api.nvim_win_call(window, function()
    local view = vim.fn.winsaveview()
    vim.cmd("silent! normal! zE")
    vim.fn.winrestview(view)
  end)
  fold_rows(window, rows)
end

--- Draws the state: entries that changed where they stand, new ones at the end.
---@param state azimuth.State
---@param start? azimuth.Block What stands below them in a session that is empty.
function Transcript:draw(state, start)
  if self.state ~= state then
    self:clear()
    self.state = state
  end
  local bufnr = self.bufnr
  -- Who looks at the end keeps looking at the end; what an empty session offers is looked at from its beginning.
  local following = {}
  local was_start, is_start = self.is_start and self.footer > 0, start ~= nil
  local count = vim.api.nvim_buf_line_count(bufnr)
  for _, window in ipairs(self:windows()) do
    if not is_start and (self.is_start or vim.api.nvim_win_get_cursor(window)[1] >= count) then
      table.insert(following, window)
    end
  end
  self.is_start = is_start
  vim.bo[bufnr].modifiable = true
  ---@type { [1]: integer, [2]: integer, open?: boolean }[]
  local folded = {}
  local opened = {}
  local row = 0
  for at = 1, #self.versions do
    local entry = state.entries[at]
    local version = entry and entry.version or 0
    if self.versions[at] ~= version then
      local block = entry and render.entry(entry) or { lines = {}, marks = {} }
      local height = self.heights[at]
      vim.api.nvim_buf_clear_namespace(bufnr, namespace, row, row + height)
      if block.fold or self.folds[at] then
        local was = self.folds[at]
        for _, window in ipairs(was and self:windows() or {}) do
          local closed = vim.api.nvim_win_call(window, function()
            return vim.fn.foldclosed(row + was.first + 1)
          end)
          if closed == -1 then
            table.insert(opened, { window, row + (block.fold and block.fold.first or 0) })
          end
        end
        -- Replaced whole, its old fold goes with it.
        vim.api.nvim_buf_set_lines(bufnr, row, row + height, false, block.lines)
      else
        replace(bufnr, row, row + height, block.lines)
      end
      set_marks(bufnr, row, block)
      self.folds[at] = block.fold
      if block.fold then
        table.insert(folded, { row + block.fold.first, row + block.fold.last })
      end
      self.versions[at] = version
      self.heights[at] = #block.lines
    end
    row = row + self.heights[at]
  end
  -- New entries go in at once: a session of thousands is one change of the buffer.
  local lines, blocks = {}, {}
  for at = #self.versions + 1, #state.entries do
    local entry = state.entries[at]
    local block = entry and render.entry(entry) or { lines = {}, marks = {} }
    table.insert(blocks, { row + #lines, block })
    if block.fold then
      table.insert(folded, { row + #lines + block.fold.first, row + #lines + block.fold.last })
    end
    self.versions[at] = entry and entry.version or 0
    self.heights[at] = #block.lines
    self.folds[at] = block.fold
    for _, line in ipairs(block.lines) do
      lines[#lines + 1] = line
    end
  end
  if #lines > 0 then
    vim.api.nvim_buf_set_lines(bufnr, row, row, false, lines)
    for _, placed in ipairs(blocks) do
      set_marks(bufnr, placed[1], placed[2])
    end
    row = row + #lines
  end
  local footer = start or render.footer(state)
  local footer_text = table.concat(footer.lines, "\n")
  if footer_text ~= self.footer_text then
    vim.api.nvim_buf_clear_namespace(bufnr, namespace, row, row + self.footer)
    replace(bufnr, row, row + self.footer, footer.lines)
    set_marks(bufnr, row, footer)
    self.footer, self.footer_text = #footer.lines, footer_text
  end
  vim.bo[bufnr].modifiable = false
  self:highlight()
  for _, window in ipairs(self:windows()) do
    fold_rows(window, folded)
  end
  for _, place in ipairs(opened) do
    vim.api.nvim_win_call(place[1], function()
      vim.cmd(("silent! %dfoldopen"):format(place[2] + 1))
    end)
  end
  for _, window in ipairs(is_start and not was_start and self:windows() or {}) do
    vim.api.nvim_win_set_cursor(window, { 1, 0 })
  end
  count = vim.api.nvim_buf_line_count(bufnr)
  for _, window in ipairs(following) do
    vim.api.nvim_win_set_cursor(window, { count, 0 })
    -- The lines that were folded left room below the end.
    vim.api.nvim_win_call(window, function()
      vim.cmd("normal! zb")
    end)
  end
end

--- The row, from 0, of what stands below the last entry, at a line, from 1; nil above it.
---@param line integer
---@return integer?
function Transcript:footer_row(line)
  local above = 0
  for _, height in ipairs(self.heights) do
    above = above + height
  end
  return line > above and line - above - 1 or nil
end

--- The entry at a line, from 1, and the row of the entry's first line, from 0.
---@param line integer
---@return azimuth.Entry?
---@return integer? row
function Transcript:entry_at(line)
  local row = 0
  for at, height in ipairs(self.heights) do
    if line <= row + height then
      return self.state.entries[at] or nil, row
    end
    row = row + height
  end
end

--- Scrolls a window to the first of these entries, opens its fold, and marks it for a moment.
---@param window? integer
---@param is_it fun(entry: azimuth.Entry): boolean
function Transcript:reveal(window, is_it)
  local row = 0
  for at, height in ipairs(self.heights) do
    local entry = self.state and self.state.entries[at]
    if window and entry and is_it(entry) then
      vim.api.nvim_win_set_cursor(window, { row + 1, 0 })
      vim.api.nvim_win_call(window, function()
        vim.cmd("silent! normal! zvzt")
      end)
      vim.api.nvim_buf_clear_namespace(self.bufnr, found, 0, -1)
      vim.api.nvim_buf_set_extmark(self.bufnr, found, row, 0, {
        end_row = row + height,
        hl_group = "AzimuthFound",
        hl_eol = true,
        priority = 200,
        strict = false,
      })
      vim.defer_fn(function()
        if vim.api.nvim_buf_is_valid(self.bufnr) then
          vim.api.nvim_buf_clear_namespace(self.bufnr, found, 0, -1)
        end
      end, FOUND_MS)
      return
    end
    row = row + height
  end
end

--- The turn that the entry at a line, from 1, belongs to, for an undo or redo of it. An undo stands for the turns that it took
--- back, for who wants to redo, and for what comes next, for who wants to undo; a redo the other way round.
---@param line integer
---@param direction azimuth.Direction
---@return azimuth.TurnId?
---@return boolean? and_later Whether all turns from it on are meant.
function Transcript:turn_at(line, direction)
  local row, turn_id = 0, nil
  for at, height in ipairs(self.heights) do
    local entry = self.state.entries[at]
    if entry and entry.kind == "restored" and line > row and line <= row + height then
      if entry.direction ~= direction then
        return entry.turn_ids[#entry.turn_ids], #entry.turn_ids > 1
      end
      return nil
    elseif line <= row then
      break
    end
    turn_id = entry and entry.kind ~= "restored" and entry.turn_id or turn_id
    row = row + height
  end
  return turn_id
end

--- The lines, from 1, at which the user's own messages begin.
---@return integer[]
function Transcript:prompts()
  local lines, row = {}, 0
  for at, height in ipairs(self.heights) do
    local entry = self.state.entries[at]
    if entry and (entry.kind == "user" or entry.kind == "command" or entry.kind == "ran") then
      table.insert(lines, row + 1)
    end
    row = row + height
  end
  return lines
end

return M
