--- The window in which the user writes an instruction, beside the code that it is about.

local text = require("azimuth.text")
require("azimuth.highlights")

local M = {}

local namespace = vim.api.nvim_create_namespace("azimuth.change.prompt")

--- The widest window, in cells, and the highest, in lines.
local MAX_WIDTH, MAX_HEIGHT = 76, 8
--- The number of instructions that are kept.
local MAX_HISTORY = 50

--- The instructions of this Neovim, the last one last.
---@type string[]
local history = {}
--- The text that was written and not sent.
local draft = ""

---@class azimuth.change.PromptOptions
---@field title string
---@field window integer The window of the code.
---@field first integer The first row and the last row of the code, from 0.
---@field last integer
---@field spans azimuth.change.Span[] The code to highlight.
---@field send fun(words: string)
---@field hand_over? fun(words: string) Goes on in the chat, if there is something to go on from.

---@class azimuth.change.Prompt
---@field bufnr integer
---@field window integer
---@field options azimuth.change.PromptOptions
---@field cursor integer[] The cursor of the code's window.
---@field at integer The position in the history; 0 is what is being written.
---@field written string The text that is being written, while the history is shown.
---@field left? string The text when the window was left; its buffer may be gone by now.

---@type azimuth.change.Prompt?
local shown = nil

---@param bufnr integer
---@return string
local function words_of(bufnr)
  return table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), "\n")
end

---@param prompt azimuth.change.Prompt
---@param words string
local function set_words(prompt, words)
  local lines = vim.split(words, "\n", { plain = true })
  vim.api.nvim_buf_set_lines(prompt.bufnr, 0, -1, false, lines)
  vim.api.nvim_win_set_cursor(prompt.window, { #lines, #lines[#lines] })
end

--- The width and the anchor of the window: above the code if there is room, else below it.
---@param options azimuth.change.PromptOptions
---@param height integer
---@return vim.api.keyset.win_config
local function position(options, height)
  local info = vim.fn.getwininfo(options.window)[1]
  local room = info.width - info.textoff
  local config = { width = math.max(20, math.min(MAX_WIDTH, room - 2)), height = height }
  local at = vim.fn.screenpos(options.window, options.first + 1, 1)
  if at.row - info.winrow >= height + 2 then
    return vim.tbl_extend("force", config, {
      relative = "win",
      win = options.window,
      bufpos = { options.first, 0 },
      anchor = "SW",
      row = 0,
      col = 0,
    })
  end
  local below = vim.fn.screenpos(options.window, options.last + 1, 1)
  local row = below.row > 0 and below.row - info.winrow + 1 or 0
  return vim.tbl_extend("force", config, {
    relative = "win",
    win = options.window,
    anchor = "NW",
    row = math.min(row, math.max(0, info.height - height - 2)),
    col = info.textoff,
  })
end

--- Makes the window as high as what is written.
---@param prompt azimuth.change.Prompt
local function fit(prompt)
  local height = vim.api.nvim_win_text_height(prompt.window, {}).all
  height = math.max(1, math.min(height, MAX_HEIGHT))
  if height ~= vim.api.nvim_win_get_height(prompt.window) then
    vim.api.nvim_win_set_config(prompt.window, position(prompt.options, height))
  end
end

--- Closes the window. The text is kept for the next time.
function M.close()
  local prompt = shown
  if not prompt then
    return
  end
  shown = nil
  local words = vim.api.nvim_buf_is_valid(prompt.bufnr) and words_of(prompt.bufnr) or prompt.left or ""
  draft = prompt.at == 0 and words or prompt.written
  vim.cmd.stopinsert()
  if vim.api.nvim_win_is_valid(prompt.window) then
    vim.api.nvim_win_close(prompt.window, true)
  end
  local code = vim.api.nvim_win_is_valid(prompt.options.window) and vim.api.nvim_win_get_buf(prompt.options.window)
  if code then
    vim.api.nvim_buf_clear_namespace(code, namespace, 0, -1)
    if vim.api.nvim_get_current_win() == prompt.options.window then
      -- Leaving insert mode would move the cursor.
      vim.schedule(function()
        pcall(vim.api.nvim_win_set_cursor, prompt.options.window, prompt.cursor)
      end)
    end
  end
end

--- Takes words into the history. They are no draft any more.
---@param words string
local function note(words)
  history = vim.tbl_filter(function(one)
    return one ~= words
  end, history)
  table.insert(history, words)
  if #history > MAX_HISTORY then
    table.remove(history, 1)
  end
  draft = ""
end

---@param prompt azimuth.change.Prompt
local function send(prompt)
  local words = vim.trim(words_of(prompt.bufnr))
  if words == "" then
    return
  end
  M.close()
  note(words)
  prompt.options.send(words)
end

--- Shows an earlier instruction or a later one.
---@param prompt azimuth.change.Prompt
---@param step 1|-1 1 is further back.
local function go(prompt, step)
  local to = prompt.at + step
  if to < 0 or to > #history then
    return
  end
  if prompt.at == 0 then
    prompt.written = words_of(prompt.bufnr)
  end
  prompt.at = to
  set_words(prompt, to == 0 and prompt.written or history[#history + 1 - to])
end

---@param prompt azimuth.change.Prompt
local function set_keys(prompt)
  local function map(modes, key, action, desc)
    vim.keymap.set(modes, key, action, { buffer = prompt.bufnr, nowait = true, desc = "Azimuth: " .. desc })
  end
  local function map_history(key, step)
    map({ "n", "i" }, key, function()
      local row = vim.api.nvim_win_get_cursor(0)[1]
      local edge = step == 1 and 1 or vim.api.nvim_buf_line_count(prompt.bufnr)
      if row == edge then
        go(prompt, step)
      else
        vim.api.nvim_win_set_cursor(0, { row - step, vim.api.nvim_win_get_cursor(0)[2] })
      end
    end, step == 1 and "an earlier instruction" or "a later instruction")
  end
  map({ "n", "i" }, "<CR>", function()
    send(prompt)
  end, "send the instruction")
  map({ "n", "i" }, "<C-c>", M.close, "close")
  map("n", "<Esc>", M.close, "close")
  map("n", "q", M.close, "close")
  map_history("<Up>", 1)
  map_history("<Down>", -1)
  if prompt.options.hand_over then
    map({ "n", "i" }, "<C-g>", function()
      local words = vim.trim(words_of(prompt.bufnr))
      M.close()
      draft = ""
      prompt.options.hand_over(words)
    end, "go on in the chat")
  end
end

---@param options azimuth.change.PromptOptions
local function highlight(options)
  local code = vim.api.nvim_win_get_buf(options.window)
  for _, span in ipairs(options.spans) do
    vim.api.nvim_buf_set_extmark(code, namespace, span.row, span.col, {
      end_row = span.end_row,
      end_col = span.end_col,
      hl_group = "Visual",
      hl_eol = span.end_row > span.row,
      -- Below that of hunks.
      priority = 100,
      strict = false,
    })
  end
end

--- Opens the window, ready to type, with what was written and not sent.
---@param options azimuth.change.PromptOptions
function M.open(options)
  M.close()
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].modeline = false
  vim.bo[bufnr].filetype = "azimuth-change"
  local footer = { "<CR> sends", "<C-c> closes", "<Up> earlier" }
  if options.hand_over then
    table.insert(footer, 3, "<C-g> goes on in the chat")
  end
  local config = position(options, 1)
  local window = vim.api.nvim_open_win(bufnr, true, vim.tbl_extend("force", config, {
    border = "rounded",
    style = "minimal",
    zindex = 55,
    title = (" %s "):format(text.shortened(options.title, config.width - 2)),
    footer = text.fit(footer, config.width),
  }))
  for _, option in ipairs({ "wrap", "linebreak" }) do
    vim.api.nvim_set_option_value(option, true, { scope = "local", win = window })
  end
  local cursor = vim.api.nvim_win_get_cursor(options.window)
  local prompt = { bufnr = bufnr, window = window, options = options, cursor = cursor, at = 0, written = "" }
  shown = prompt
  highlight(options)
  set_words(prompt, draft)
  set_keys(prompt)
  vim.api.nvim_create_autocmd({ "TextChanged", "TextChangedI" }, {
    buffer = bufnr,
    callback = function()
      fit(prompt)
    end,
  })
  vim.api.nvim_create_autocmd("WinLeave", {
    buffer = bufnr,
    callback = function()
      prompt.left = words_of(bufnr)
      vim.schedule(function()
        if shown == prompt then
          M.close()
        end
      end)
    end,
  })
  fit(prompt)
  vim.cmd.startinsert({ bang = true })
end

--- Keeps words that could not be sent for the next time.
---@param words string
function M.keep(words)
  draft = draft == "" and words or draft
end

return M
