--- The buffer in which a prompt is written: sending, history, completion, and a draft that outlives the editor.

local client = require("azimuth.client")
local config = require("azimuth.config")
local fold = require("azimuth.fold")
local prompt = require("azimuth.prompt")
local protocol = require("azimuth.generated.protocol")
local text = require("azimuth.text")
local turn = require("azimuth.turn")

local M = {}

---@type integer?
local bufnr = nil
--- URIs of the files that completion gave, by the path that stands after `@`.
---@type table<string, string>
local known = {}
--- Where in the history the user is: 0 is the draft, 1 the last prompt.
local place = 0
---@type string?
local draft = nil

--- Where the draft of a project is kept. Another project has another.
---@return string
local function draft_path()
  return config.file("state", "draft-" .. vim.fn.sha256(client.root()):sub(1, 16))
end

---@return string
function M.text()
  if not bufnr then
    return ""
  end
  return table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), "\n")
end

---@param value string
function M.set_text(value)
  local buffer = M.buffer()
  local lines = vim.split(value, "\n", { plain = true })
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    vim.api.nvim_win_set_cursor(window, { #lines, #lines[#lines] })
  end
end

--- The folder that mentions are relative to.
---@return string
local function root()
  local state = client.state()
  local first = state and state.folders[1]
  return first and vim.uri_to_fname(first) or client.root()
end

--- A mention of a document, or of lines of it, as it is written in a prompt.
---@param uri string
---@param first? integer The first line, from 1.
---@param last? integer The last line.
---@return string
function M.mention(uri, first, last)
  local path = uri:match("^file:") and vim.uri_to_fname(uri) or uri
  local folder = root() .. "/"
  path = vim.startswith(path, folder) and path:sub(#folder + 1) or path
  known[path] = uri
  return prompt.mention({ path = path, first = first, last = last })
end

--- A prompt as the user would write it.
---@param blocks azimuth.PromptBlock[]
---@return string
function M.written(blocks)
  return prompt.written(blocks, M.mention)
end

--- Puts text at the end of what is written already.
---@param value string
function M.append(value)
  local before = M.text()
  local gap = (before == "" or before:match("%s$")) and "" or " "
  M.set_text(before .. gap .. value)
end

--- Puts a prompt that could not be sent below what is written already.
---@param blocks azimuth.PromptBlock[]
function M.add_prompt(blocks)
  local before = M.text()
  M.set_text((vim.trim(before) == "" and "" or before .. "\n") .. M.written(blocks))
end

-- Sending -----------------------------------------------------------------------------------------------------------

--- Sends a text as a prompt. What could not be sent comes back into the input.
---@param said string
---@param how? "steer"|"queue"|"now"
function M.send_text(said, how)
  local blocks = prompt.blocks(said, root(), known)
  require("azimuth.chat").follow()
  turn.send(blocks, how, function(err)
    if err then
      vim.notify("Azimuth: not sent: " .. err.message, vim.log.levels.ERROR)
      local since = M.text()
      M.set_text(since == "" and said or said .. "\n" .. since)
    end
  end)
end

--- The slash commands that are picked from a list where nothing is said with them.
local pickers = { ["/model"] = "model", ["/thinking"] = "thinking", ["/mode"] = "mode", ["/resume"] = "session" }

--- Sends what is written.
---@param how? "steer"|"queue"|"now"
function M.send(how)
  local said = M.text()
  if vim.trim(said) == "" then
    return
  end
  M.set_text("")
  place, draft = 0, nil
  local pick = pickers[vim.trim(said)]
  if pick then
    -- A list of completions that is open would stay above the other one.
    vim.cmd.stopinsert()
    return vim.schedule(function()
      require("azimuth.pick")[pick]()
    end)
  end
  M.send_text(said, how)
end

-- History -----------------------------------------------------------------------------------------------------------

---@param step 1|-1 1 is further back.
local function history(step)
  local state = client.state()
  local prompts = state and fold.prompts(state) or {}
  local to = place + step
  if to < 0 or to > #prompts then
    return
  end
  if place == 0 then
    draft = M.text()
  end
  place = to
  M.set_text(to == 0 and draft or prompts[#prompts + 1 - to])
end

--- A key that goes through the history where the cursor cannot go further, and else does what it always does.
---@param key string
---@param step 1|-1
local function map_history(key, step)
  vim.keymap.set({ "n", "i" }, key, function()
    local line = vim.api.nvim_win_get_cursor(0)[1]
    local edge = step == 1 and 1 or vim.api.nvim_buf_line_count(0)
    if vim.fn.pumvisible() == 1 or line ~= edge then
      return key
    end
    vim.schedule(function()
      history(step)
    end)
    return ""
  end, { buffer = bufnr, expr = true, desc = step == 1 and "Azimuth: earlier prompt" or "Azimuth: later prompt" })
end

-- Completion --------------------------------------------------------------------------------------------------------

local asked = 0

--- Asks the server what could stand at the cursor, and shows it once the answer is there, if the user is still there.
local function complete()
  local session_id = client.session()
  if not session_id then
    return
  end
  asked = asked + 1
  local mine = asked
  local cursor = vim.api.nvim_win_get_cursor(0)
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  local whole = table.concat(lines, "\n")
  local line_start = 0
  for at = 1, cursor[1] - 1 do
    line_start = line_start + #lines[at] + 1
  end
  local params = {
    sessionId = session_id,
    text = whole,
    cursor = text.utf16_of_byte(whole, line_start + cursor[2]),
  }
  client.request(protocol.requests.prompt_complete, params, function(err, result)
    local here = vim.api.nvim_get_current_buf() == bufnr and vim.fn.mode():sub(1, 1) == "i"
    if err or mine ~= asked or not here or M.text() ~= whole or #result.items == 0 then
      return
    end
    local column = text.byte_of_utf16(whole, result.start) - line_start
    if column < 0 then
      return
    end
    local items = {}
    for _, item in ipairs(result.items) do
      if item.uri then
        known[vim.trim(item.insert):gsub("^@", "")] = item.uri
      end
      table.insert(items, {
        word = item.insert,
        abbr = text.one_line(item.label, 60),
        menu = text.one_line(item.detail, 60),
        kind = ({ command = "/", argument = "=", file = "@" })[item.kind],
        dup = 1,
      })
    end
    vim.fn.complete(column + 1, items)
  end)
end

--- `completefunc` and `omnifunc`: asks, and waits for nothing.
---@param findstart integer
---@return integer|table
function M.completefunc(findstart)
  if findstart == 1 then
    vim.schedule(complete)
    return -3
  end
  return {}
end

--- Completion by itself, while a command or a mention is typed.
local function popup()
  -- Going through the menu changes the text, too; that asks for nothing new.
  local in_menu = vim.fn.pumvisible() == 1 and vim.fn.complete_info({ "selected" }).selected ~= -1
  if not config.values.chat.popup or in_menu then
    return
  end
  local cursor = vim.api.nvim_win_get_cursor(0)
  local before = vim.api.nvim_get_current_line():sub(1, cursor[2])
  if before:match("@[^%s]*$") or (before:match("^/") and cursor[1] == 1) then
    complete()
  end
end

--- The menu shows for one match too, and chooses none by itself. Before 0.11 the option is global, so it is set while
--- the cursor is in the input.
---@param group integer
local function set_menu(group)
  local wanted = "menuone,noselect"
  if vim.fn.has("nvim-0.11") == 1 then
    vim.bo[bufnr].completeopt = wanted
    return
  end
  local users = nil
  vim.api.nvim_create_autocmd("BufEnter", {
    group = group,
    buffer = bufnr,
    callback = function()
      users, vim.o.completeopt = users or vim.o.completeopt, wanted
    end,
  })
  vim.api.nvim_create_autocmd("BufLeave", {
    group = group,
    buffer = bufnr,
    callback = function()
      vim.o.completeopt, users = users or vim.o.completeopt, nil
    end,
  })
end

-- The buffer --------------------------------------------------------------------------------------------------------

local function set_keys()
  local function map(modes, key, action, desc)
    vim.keymap.set(modes, key, action, { buffer = bufnr, desc = "Azimuth: " .. desc })
  end
  map("n", "<CR>", function()
    M.send()
  end, "send the prompt")
  map({ "n", "i" }, "<C-s>", function()
    M.send()
  end, "send the prompt")
  map({ "n", "i" }, "<C-q>", function()
    M.send("queue")
  end, "send the prompt for after the running turn")
  map({ "n", "i" }, "<C-c>", turn.cancel, "cancel the turn")
  map("n", "g?", function()
    vim.cmd.help("azimuth-chat-keys")
  end, "help")
  map("n", "q", function()
    require("azimuth.chat").close()
  end, "close the chat")
  for digit = 1, 9 do
    local key = tostring(digit)
    vim.keymap.set("n", key, function()
      return M.text() == "" and require("azimuth.beginnings").mapped(key) or key
    end, { buffer = bufnr, expr = true, nowait = true, desc = "Azimuth: begin with what an empty chat offers, or a count" })
  end
  vim.keymap.set("i", "<Tab>", function()
    return vim.fn.pumvisible() == 1 and "<C-n>" or "<Tab>"
  end, { buffer = bufnr, expr = true, desc = "Azimuth: next completion" })
  map_history("<Up>", 1)
  map_history("<Down>", -1)
end

--- The buffer, made when it is first asked for.
---@return integer
function M.buffer()
  if bufnr and vim.api.nvim_buf_is_valid(bufnr) then
    return bufnr
  end
  bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(bufnr, "azimuth://prompt")
  vim.bo[bufnr].buftype = "nofile"
  vim.bo[bufnr].bufhidden = "hide"
  vim.bo[bufnr].swapfile = false
  vim.bo[bufnr].modeline = false
  vim.bo[bufnr].filetype = "azimuth-prompt"
  vim.bo[bufnr].completefunc = "v:lua.require'azimuth.input'.completefunc"
  vim.bo[bufnr].omnifunc = "v:lua.require'azimuth.input'.completefunc"
  pcall(vim.treesitter.start, bufnr, "markdown")
  set_keys()
  local group = vim.api.nvim_create_augroup("azimuth.input", { clear = true })
  set_menu(group)
  vim.api.nvim_create_autocmd("TextChangedI", { group = group, buffer = bufnr, callback = popup })
  vim.api.nvim_create_autocmd("TextChangedP", { group = group, buffer = bufnr, callback = popup })
  local path = draft_path()
  local kept = config.read(path)
  vim.api.nvim_create_autocmd("VimLeavePre", {
    group = group,
    callback = function()
      local said = M.text()
      if vim.trim(said) ~= "" then
        config.write_private(path, said)
      elseif kept and config.read(path) == kept then
        -- Another Neovim may have left its own there since; only what was taken from there is removed.
        vim.uv.fs_unlink(path)
      end
    end,
  })
  if kept then
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, vim.split(kept, "\n", { plain = true }))
  end
  return bufnr
end

return M
