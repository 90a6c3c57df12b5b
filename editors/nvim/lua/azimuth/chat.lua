--- The chat: a transcript in a window at the side, and below it the input.

local beginnings = require("azimuth.beginnings")
local client = require("azimuth.client")
local config = require("azimuth.config")
local input = require("azimuth.input")
local render = require("azimuth.render")
local status = require("azimuth.status")
local text = require("azimuth.text")
local transcripts = require("azimuth.transcript")
local turn = require("azimuth.turn")
require("azimuth.highlights")

local M = {}

--- The shortest time between two drawings, in milliseconds.
local FRAME = 30

---@type azimuth.Transcript?
local transcript = nil

--- The windows of a tab page that show a buffer; each tab page may have a chat.
---@param bufnr? integer
---@param tabpage? integer Without it, the current one.
---@return integer[]
local function windows_of(bufnr, tabpage)
  return vim.tbl_filter(function(window)
    return vim.api.nvim_win_get_buf(window) == bufnr
  end, vim.api.nvim_tabpage_list_wins(tabpage or 0))
end

---@return integer? window Of the transcript, in this tab page.
local function view_window()
  return windows_of(transcript and transcript.bufnr)[1]
end

---@return integer? window Of the input, in this tab page.
local function input_window()
  return windows_of(input.buffer())[1]
end

-- Drawing -----------------------------------------------------------------------------------------------------------

local drawn_at = 0
local draw_waits = false
---@type integer? When the running turn was first seen, in milliseconds.
local running_since = nil
local clock = nil

--- Returns the bar above the transcript: as much as fits, the title first, and always that edits are accepted unseen,
--- or that nothing is asked any more.
---@param state azimuth.State
---@param room integer
---@return string
local function title_bar(state, room)
  local title = text.one_line(state.title ~= "" and state.title or "New session")
  local accepting = state.accept_edits and status.accepting(state)
  local mode, group = status.mode(state)
  local warned = (accepting and #accepting + 3 or 0) + (group and #mode + 3 or 0)
  local parts = { text.bar(text.shortened(title, math.max(15, room - 13 - warned))) }
  if group then
    table.insert(parts, ("%%#%s#%s%%*"):format(group, mode))
  end
  if accepting then
    table.insert(parts, "%#AzimuthWarning#" .. accepting .. "%*")
  end
  local model = status.model(state)
  if model then
    table.insert(parts, text.bar(model) .. (state.scripted and " (plays a script)" or ""))
    table.insert(parts, status.thinking(state))
  end
  if mode and not group then
    table.insert(parts, mode)
  end
  local percent, fill = status.fill(state.context)
  if percent then
    local words = ("context %d%%%%"):format(percent)
    table.insert(parts, fill and ("%%#%s#%s%%*"):format(fill, words) or words)
  end
  if state.cost > 0 then
    table.insert(parts, text.dollars(state.cost))
  end
  return text.fit(parts, room)
end

---@param action string
---@return string
local function key_of(action)
  return require("azimuth.mappings").shown(action)
end

--- Returns the bar above the input: what runs, what waits, and first of each the key for it.
---@param state? azimuth.State
---@param room integer
---@return string
local function status_bar(state, room)
  local parts = {}
  if not client.lsp_client() then
    table.insert(parts, "%#AzimuthWarning#The server is being started%*")
  end
  if state and #state.questions > 0 then
    table.insert(parts, ("%s %%#AzimuthAsk#%s%%*"):format(text.bar(key_of("permission")), text.plural(#state.questions, "question")))
  end
  local waits = state and status.waits(state)
  if waits then
    table.insert(parts, ("%s answers what %%#AzimuthAsk#%s%%*"):format(text.bar(key_of("answer")), waits))
  end
  local left = state and status.seconds_left(state)
  if left then
    local key = text.bar(key_of("retry"))
    table.insert(parts, ("%s asks again now, else in %%#AzimuthRunning#%d s%%*, <C-c> stops"):format(key, left))
  elseif state and state.running then
    local seconds = math.floor((vim.uv.now() - (running_since or vim.uv.now())) / 1000)
    table.insert(parts, ("<C-c> cancels, %%#AzimuthRunning#%d s%%*"):format(seconds))
  end
  if state then
    local hunks = status.hunks(state)
    if hunks then
      table.insert(parts, ("%s reviews %s"):format(text.bar(key_of("review")), hunks))
    end
    if #state.queue > 0 then
      table.insert(parts, text.plural(#state.queue, "prompt") .. " waiting")
    end
  end
  if #parts == 0 then
    for _, hint in ipairs({ "<C-s> sends", "@ mentions a file", "/ a command", "! runs one in the shell", "g? helps" }) do
      table.insert(parts, "%#AzimuthHint#" .. hint .. "%*")
    end
  end
  return text.fit(parts, room)
end

--- True if the user has not said how status lines look, and no plugin makes its own.
---@return boolean
local function has_plain_statusline()
  return vim.go.statusline == vim.api.nvim_get_option_info2("statusline", {}).default
end

--- Sets a window's bar, if it is another one: a set bar is a redraw.
---@param window integer
---@param which "winbar"|"statusline"
---@param bar string
local function set_bar(window, which, bar)
  if vim.wo[window][which] ~= bar then
    vim.api.nvim_set_option_value(which, bar, { scope = "local", win = window })
  end
end

local function draw_bars()
  local state = client.state()
  local plain = has_plain_statusline()
  for _, window in ipairs(state and transcript and transcript:windows() or {}) do
    set_bar(window, "winbar", title_bar(state, vim.api.nvim_win_get_width(window)))
    if plain then
      local title = text.bar(state.title ~= "" and state.title or "New session")
      set_bar(window, "statusline", (" %%<%s%%= %s "):format(title, status.doing(state)))
    end
  end
  for _, window in ipairs(vim.fn.win_findbuf(input.buffer())) do
    set_bar(window, "winbar", status_bar(state, vim.api.nvim_win_get_width(window)))
    if plain then
      set_bar(window, "statusline", " Prompt")
    end
  end
end

--- Counts the seconds of the running turn.
---@param state? azimuth.State
local function keep_time(state)
  if state and state.running and input_window() then
    running_since = running_since or vim.uv.now()
    if not clock then
      clock = vim.uv.new_timer()
      clock:start(1000, 1000, vim.schedule_wrap(draw_bars))
    end
  else
    if not (state and state.running) then
      running_since = nil
    end
    if clock then
      clock:stop()
      clock:close()
      clock = nil
    end
  end
end

local function draw()
  draw_waits = false
  drawn_at = vim.uv.now()
  local state = client.state()
  keep_time(state)
  if not transcript or #transcript:windows() == 0 then
    return
  end
  if state then
    transcript:draw(state, (beginnings.of(state)))
  end
  draw_bars()
end

--- Draws soon: at once where nothing was drawn lately, else with what comes till then.
local function draw_soon()
  if draw_waits then
    return
  end
  draw_waits = true
  vim.defer_fn(draw, math.max(0, FRAME - (vim.uv.now() - drawn_at)))
end

-- Keys of the transcript --------------------------------------------------------------------------------------------

---@return azimuth.Entry?
local function entry_under_cursor()
  return transcript and transcript.state and (transcript:entry_at(vim.api.nvim_win_get_cursor(0)[1]))
end

--- Shows all that a tool call was given and gave, in a window of its own. In an empty chat it does what the line says.
local function show_detail()
  local row = transcript and transcript:footer_row(vim.api.nvim_win_get_cursor(0)[1])
  if row and beginnings.take_row(row) then
    return
  end
  local entry = entry_under_cursor()
  if not entry or (entry.kind ~= "tool" and entry.kind ~= "ran") then
    vim.cmd("silent! normal! za")
    return
  end
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].modeline = false
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, render.tool_detail(entry))
  vim.bo[bufnr].modifiable = false
  local width = math.min(120, vim.o.columns - 6)
  local height = math.min(vim.api.nvim_buf_line_count(bufnr), vim.o.lines - 8)
  vim.api.nvim_open_win(bufnr, true, {
    relative = "editor",
    width = width,
    height = math.max(height, 1),
    row = math.floor((vim.o.lines - height) / 2) - 1,
    col = math.floor((vim.o.columns - width) / 2),
    border = "rounded",
    title = " q closes ",
    style = "minimal",
  })
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = bufnr, nowait = true })
end

--- Goes to the session that the tool call under the cursor has started, or else to the place that it is about.
local function go_to_location()
  local entry = entry_under_cursor()
  if entry and entry.child then
    client.open_session(entry.child.session_id, function(err)
      if err then
        vim.notify("Azimuth: " .. err.message, vim.log.levels.ERROR)
      end
    end)
    return
  end
  local location = entry and entry.locations and entry.locations[1]
  if not location or not location.uri:match("^file:") then
    return
  end
  vim.cmd.wincmd("p")
  local bufnr = vim.api.nvim_get_current_buf()
  if bufnr == transcript.bufnr or bufnr == input.buffer() then
    vim.cmd("topleft vnew")
  end
  vim.cmd.edit(vim.fn.fnameescape(vim.uri_to_fname(location.uri)))
  if location.line then
    local last = vim.api.nvim_buf_line_count(0)
    vim.api.nvim_win_set_cursor(0, { math.min(location.line + 1, last), 0 })
  end
end

--- The terminal of the command under the cursor, as it is now.
---@return azimuth.TerminalInfo?
local function terminal_under_cursor()
  local entry = entry_under_cursor()
  local session_id = client.session()
  if entry and entry.terminal_id and session_id then
    return require("azimuth.terminal.act").now(session_id, entry.terminal_id)
  end
end

--- True if the command under the cursor runs in its terminal now. Another one may run there.
---@param info? azimuth.TerminalInfo
---@return boolean
local function runs_under_cursor(info)
  local entry = entry_under_cursor()
  return info ~= nil and info.alive and (info.kind == "job" or (info.running ~= nil and info.running.toolCallId == entry.id))
end

--- Answers the command under the cursor, or else the one that waits.
local function answer()
  local act = require("azimuth.terminal.act")
  local session_id = client.session()
  local info = terminal_under_cursor()
  if session_id and info and info.waiting and runs_under_cursor(info) then
    act.answer(session_id, info)
  elseif session_id then
    act.answer_any(session_id)
  end
end

local function show_terminal()
  local session_id = client.session()
  if session_id then
    require("azimuth.terminal").open(session_id, { terminal = terminal_under_cursor(), focus = true })
  end
end

--- Takes the terminal of the command under the cursor over, or hands it back.
local function toggle_taken()
  local info = terminal_under_cursor()
  if info and info.taken then
    require("azimuth.terminal.act").take(client.session() --[[@as string]], info.terminalId, false)
  elseif runs_under_cursor(info) then
    ---@cast info azimuth.TerminalInfo
    vim.cmd.Azimuth({ args = { "takeover", info.terminalId } })
  else
    vim.notify("Azimuth: no command is running here. :Azimuth takeover takes the shell over.")
  end
end

local function end_command()
  local info = terminal_under_cursor()
  if runs_under_cursor(info) then
    ---@cast info azimuth.TerminalInfo
    require("azimuth.terminal.act").kill(client.session() --[[@as string]], info.terminalId)
  else
    vim.notify("Azimuth: no command is running here.")
  end
end

---@param step 1|-1
local function to_prompt(step)
  local line = vim.api.nvim_win_get_cursor(0)[1]
  local lines = transcript and transcript.state and transcript:prompts() or {}
  local from, to = 1, #lines
  if step < 0 then
    from, to = #lines, 1
  end
  for at = from, to, step do
    if (lines[at] - line) * step > 0 then
      vim.api.nvim_win_set_cursor(0, { lines[at], 0 })
      return
    end
  end
end

---@param bufnr integer
local function set_keys(bufnr)
  local function map(key, action, desc)
    vim.keymap.set("n", key, action, { buffer = bufnr, nowait = true, desc = "Azimuth: " .. desc })
  end
  map("<Tab>", "za", "open or close the fold")
  map("<CR>", show_detail, "show the whole of a tool call or command")
  map("s", answer, "answer a command that waits for input")
  map("t", show_terminal, "show the terminal of a command")
  map("T", toggle_taken, "take the terminal of a command over, or hand it back")
  map("x", end_command, "end a command that runs")
  map("gd", go_to_location, "go to the location, or to the conversation, of a tool call")
  map("]]", function()
    to_prompt(1)
  end, "next prompt")
  map("[[", function()
    to_prompt(-1)
  end, "previous prompt")
  map("<C-c>", turn.cancel, "cancel the turn")
  map("gr", turn.retry, "ask the model again now")
  map("u", "<Cmd>Azimuth undo<CR>", "undo what the turn did to files")
  map("U", "<Cmd>Azimuth! undo<CR>", "undo what this turn and all later ones did to files")
  map("<C-r>", "<Cmd>Azimuth redo<CR>", "redo what was undone")
  map("i", M.focus_input, "write a prompt")
  map("o", M.focus_input, "write a prompt")
  map("q", M.close, "close the chat")
  map("g?", function()
    vim.cmd.help("azimuth-chat-keys")
  end, "help")
  require("azimuth.notices")
  require("azimuth.permission").set_keys(bufnr, function()
    local entry = entry_under_cursor()
    local open = entry and entry.kind == "permission" and not entry.outcome and not entry.done
    return open and entry.request.permissionId or nil
  end, beginnings.mapped)
end

-- Windows -----------------------------------------------------------------------------------------------------------

---@return azimuth.Transcript
local function make_transcript()
  if transcript and vim.api.nvim_buf_is_valid(transcript.bufnr) then
    return transcript
  end
  transcript = transcripts.new()
  local bufnr = transcript.bufnr
  vim.api.nvim_buf_set_name(bufnr, "azimuth://chat")
  vim.treesitter.language.register("markdown", "azimuth")
  vim.bo[bufnr].filetype = "azimuth"
  transcript:highlight()
  set_keys(bufnr)
  return transcript
end

---@param window integer
---@param options table<string, any>
local function set_options(window, options)
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { scope = "local", win = window })
  end
end

---@return integer
local function width()
  local wanted = config.values.chat.width
  if wanted < 1 then
    wanted = math.max(math.floor(vim.o.columns * wanted), 44)
  end
  return math.max(math.min(wanted, vim.o.columns - 20), 20)
end

--- A chat window keeps its buffer: a file that is opened from there goes elsewhere.
local plain = {
  winfixbuf = true,
  number = false,
  relativenumber = false,
  signcolumn = "no",
  foldcolumn = "0",
  list = false,
  spell = false,
  wrap = true,
  linebreak = true,
  breakindent = true,
  cursorline = false,
  colorcolumn = "",
  -- A margin of one column, also beside lines that wrap.
  statuscolumn = " ",
}

--- Opens the windows in this tab page, or finds them.
---@return integer view
---@return integer prompt
local function open_windows()
  local shown = make_transcript()
  local view = view_window()
  if not view then
    view = vim.api.nvim_open_win(shown.bufnr, false, {
      split = config.values.chat.position,
      win = -1,
      width = width(),
    })
    set_options(view, plain)
    set_options(view, {
      winfixwidth = true,
      foldmethod = "manual",
      foldenable = true,
      foldtext = "",
      fillchars = "fold: ,eob: ",
      conceallevel = 0,
      scrolloff = 0,
    })
    shown:fold_all(view)
    vim.api.nvim_win_set_cursor(view, { shown.is_start and 1 or vim.api.nvim_buf_line_count(shown.bufnr), 0 })
  end
  local prompt = input_window()
  if not prompt then
    prompt = vim.api.nvim_open_win(input.buffer(), false, {
      split = "below",
      win = view,
      height = config.values.chat.input_height,
    })
    set_options(prompt, plain)
    set_options(prompt, { winfixheight = true, fillchars = "eob: " })
  end
  return view, prompt
end

--- Opens the chat with the current session, or the last one of this project.
---@param callback? fun(err?: azimuth.Error) Called once the session is there, or cannot be, which is told the user.
function M.open(callback)
  open_windows()
  draw()
  client.ensure_session(function(err)
    if err then
      vim.notify("Azimuth: " .. err.message, vim.log.levels.ERROR)
    else
      beginnings.shown()
      draw_soon()
      require("azimuth.pick").check_models()
    end
    if callback then
      callback(err)
    end
  end)
end

--- True if the chat is shown in this tab page.
---@return boolean
function M.is_open()
  return view_window() ~= nil
end

--- The window of the transcript in this tab page.
---@return integer?
M.window = view_window

--- The turn at the cursor, where the cursor is in the transcript; see `Transcript:turn_at`.
---@param direction azimuth.Direction
---@return azimuth.TurnId?
---@return boolean? and_later
function M.turn_at_cursor(direction)
  if transcript and transcript.state and vim.api.nvim_get_current_buf() == transcript.bufnr then
    return transcript:turn_at(vim.api.nvim_win_get_cursor(0)[1], direction)
  end
end

--- Puts the cursor into the input, ready to type.
function M.focus_input()
  local _, prompt = open_windows()
  vim.api.nvim_set_current_win(prompt)
  vim.cmd.startinsert({ bang = true })
end

--- Closes the chat in this tab page.
function M.close()
  vim.cmd.stopinsert()
  local windows = vim.list_extend(windows_of(input.buffer()), windows_of(transcript and transcript.bufnr))
  for _, window in ipairs(windows) do
    -- The last window of the editor cannot be closed.
    if vim.api.nvim_win_is_valid(window) and not pcall(vim.api.nvim_win_close, window, true) then
      set_options(window, { winfixbuf = false })
      vim.api.nvim_win_call(window, vim.cmd.enew)
    end
  end
end

function M.toggle()
  if M.is_open() then
    M.close()
  else
    M.open()
    M.focus_input()
  end
end

--- Looks at the end again, and stays there.
function M.follow()
  local view = view_window()
  if view then
    vim.api.nvim_win_set_cursor(view, { vim.api.nvim_buf_line_count(transcript.bufnr), 0 })
  end
end

--- Draws soon what is new beside the session.
M.redraw = draw_soon

--- Shows an entry of the session, and marks it for a moment.
---@param is_it fun(entry: azimuth.Entry): boolean
function M.reveal(is_it)
  draw()
  transcript:reveal(view_window(), is_it)
end

--- Draws now. For measurements.
---@return integer bufnr The transcript.
function M.draw_now()
  draw()
  return transcript and transcript.bufnr or -1
end

client.on("*", function(session_id)
  if session_id == nil or session_id == client.session() then
    draw_soon()
  end
end)

local group = vim.api.nvim_create_augroup("azimuth.chat", { clear = true })
vim.api.nvim_create_autocmd({ "WinResized", "VimResized" }, { group = group, callback = draw_soon })
vim.api.nvim_create_autocmd("WinClosed", {
  group = group,
  callback = function(args)
    local closed = tonumber(args.match) --[[@as integer]]
    if not transcript or vim.api.nvim_win_get_buf(closed) ~= transcript.bufnr then
      return
    end
    local tabpage = vim.api.nvim_win_get_tabpage(closed)
    vim.schedule(function()
      if not vim.api.nvim_tabpage_is_valid(tabpage) or windows_of(transcript.bufnr, tabpage)[1] then
        return
      end
      -- The input without the transcript says nothing.
      for _, orphan in ipairs(windows_of(input.buffer(), tabpage)) do
        pcall(vim.api.nvim_win_close, orphan, true)
      end
    end)
  end,
})

return M
