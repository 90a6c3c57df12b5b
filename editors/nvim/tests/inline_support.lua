--- A Neovim whose server is a table of this process: it suggests what a test says, and notes what it hears.

local support = require("support")

local M = {}

---@class azimuth.test.Inline
---@field setup? string
---@field suggest? string
---@field edits? string With it, the server says that it has a model for edits.
---@field cursor? integer[]
---@field is_normal? boolean True for normal mode.
---@field columns? integer
---@field lines? integer
---@field before? string
---@field state? string

--- Starts a child with the file `a.lua` open in it, in insert mode, at the end of what it contains.
---
--- `_G.suggest(params)` in the child gives the items of an answer, each `{ text, first?, last? }` with the columns of its range
--- in UTF-16, or a text for why there is none; with `_G.holds` set, answers wait for `_G.let_go()`. `_G.heard` has what the
--- server heard, in its order. `_G.next_edit(params)` gives the hunks of the next edit, each `{ line, character, end_line,
--- end_character, text }`, with what else the edit has, or a text for why there is none.
---@param lines string[]
---@param options? azimuth.test.Inline
---@return Child
function M.start(lines, options)
  options = options or {}
  local place = support.place({ ["a.lua"] = table.concat(lines, "\n") .. "\n" })
  local child = support.start(place, { setup = options.setup, columns = options.columns, lines = options.lines })
  child:lua(options.before or "")
  child:command("edit a.lua")
  child:lua([[
    local protocol = require("azimuth.generated.protocol")
    _G.played = 0
    vim.keymap.set({ "i", "n" }, "<F12>", function() _G.played = _G.played + 1 end)
    _G.heard, _G.held_back, _G.cancelled = {}, {}, {}
    local names = 0
    _G.let_go = function()
      local waiting = _G.held_back
      _G.held_back = {}
      for _, answer in ipairs(waiting) do answer() end
    end
    local function answer(params)
      local found = _G.suggest(params)
      if type(found) == "string" then
        return { items = {}, reason = { rule = "mid_word", words = found } }
      end
      local items = {}
      for _, item in ipairs(found or {}) do
        names = names + 1
        table.insert(items, {
          id = "s" .. names,
          text = item[1],
          version = params.textDocument.version,
          range = {
            start = { line = params.position.line, character = item[2] or params.position.character },
            ["end"] = { line = params.position.line, character = item[3] or params.position.character },
          },
        })
      end
      return { items = items }
    end
    local function range_of(one)
      return { start = { line = one[1], character = one[2] }, ["end"] = { line = one[3], character = one[4] } }
    end
    -- An edit of the server's, of the document of the request unless `more` says otherwise.
    _G.edit_of = function(found, uri, version)
      names = names + 1
      local hunks = {}
      for at, one in ipairs(found) do
        table.insert(hunks, { id = "h" .. at, range = range_of(one), text = one[5] })
      end
      local edit = { id = "e" .. names, kind = "edit", uri = uri, version = version, hunks = hunks }
      edit.target = hunks[1].range.start
      return vim.tbl_extend("force", edit, found.more or {})
    end
    local function edit_answer(params)
      local found = _G.next_edit and _G.next_edit(params) or "There is nothing."
      if type(found) == "string" then
        return { reason = { rule = "no_change", words = found } }
      end
      _G.edit = _G.edit_of(found, params.textDocument.uri, params.textDocument.version)
      return { edit = _G.edit }
    end
    -- Accepts as the server does: it changes the document, then answers.
    local function accept(dispatchers, params, reply)
      local edits, last, rest = {}, nil, {}
      for _, hunk in ipairs(_G.edit.hunks) do
        if not params.hunks or vim.tbl_contains(params.hunks, hunk.id) then
          table.insert(edits, { range = hunk.range, newText = hunk.text })
          last = hunk
        else
          table.insert(rest, hunk)
        end
      end
      local change = { textDocument = { uri = _G.edit.uri, version = _G.edit.version }, edits = edits }
      dispatchers.server_request("workspace/applyEdit", { edit = { documentChanges = { change } } })
      local lines = vim.split(last.text, "\n", { plain = true })
      local start = last.range.start
      local cursor = { line = start.line + #lines - 1, character = #lines[#lines] }
      cursor.character = cursor.character + (#lines == 1 and start.character or 0)
      -- Neovim 0.12 makes the change a moment later.
      vim.defer_fn(function()
        _G.edit = #rest > 0 and _G.rest and _G.rest(rest) or nil
        reply({ uri = change.textDocument.uri, cursor = cursor, rest = _G.edit })
      end, 20)
    end
    local function server(dispatchers)
      _G.tell = dispatchers.notification
      local id = 0
      return {
        request = function(method, params, callback, notify)
          id = id + 1
          local mine = id
          table.insert(_G.heard, { method, params, mine })
          local function reply(result)
            vim.schedule(function()
              if notify then notify(mine) end
              if _G.cancelled[mine] then
                callback({ code = -32800, message = "cancelled" })
              else
                callback(nil, result)
              end
            end)
          end
          if method == "initialize" then
            reply({
              serverInfo = { name = "azimuth", version = "1" },
              capabilities = {
                positionEncoding = "utf-16",
                textDocumentSync = { openClose = true, change = 2 },
                experimental = { azimuth = { protocol = 1 } },
              },
            })
          elseif method == protocol.requests.inline_complete then
            local result = answer(params)
            local function go() reply(result) end
            if _G.holds then table.insert(_G.held_back, go) else go() end
          elseif method == protocol.requests.inline_edit then
            local result = edit_answer(params)
            local function go() reply(result) end
            if _G.holds then table.insert(_G.held_back, go) else go() end
          elseif method == protocol.requests.inline_accept then
            if _G.refuses then
              vim.schedule(function()
                if notify then notify(mine) end
                callback({ code = -32000, message = _G.refuses })
              end)
            else
              -- No server answers while the request is being made.
              vim.schedule(function() accept(dispatchers, params, reply) end)
            end
          elseif method == protocol.requests.inline_explain then
            reply(_G.explained or { decisions = {} })
          else
            reply(vim.empty_dict())
          end
          return true, mine
        end,
        notify = function(method, params)
          if method == "$/cancelRequest" then _G.cancelled[params.id] = true end
          table.insert(_G.heard, { method, params })
          return true
        end,
        is_closing = function() return false end,
        terminate = function() dispatchers.on_exit(0, 0) end,
      }
    end
    _G.asked = function(method)
      return vim.tbl_filter(function(one) return one[1] == protocol.requests[method] end, _G.heard)
    end
    _G.events = function()
      return vim.tbl_map(function(one)
        local more = one[2].length or one[2].hunk
        return one[2].id .. " " .. one[2].event .. (more and " " .. more or "")
      end, _G.asked("inline_feedback"))
    end
    -- The rows of the window: the text with all that is drawn into it.
    _G.shown = function()
      vim.cmd.redraw()
      local rows = {}
      local info = vim.fn.getwininfo(vim.api.nvim_get_current_win())[1]
      for row = info.winrow, info.winrow + info.height - 1 do
        local cells = {}
        for column = info.wincol + info.textoff, info.wincol + info.width - 1 do
          table.insert(cells, vim.fn.screenstring(row, column))
        end
        table.insert(rows, (table.concat(cells):gsub("%s+$", "")))
      end
      while rows[#rows] == "~" or rows[#rows] == "" do table.remove(rows) end
      return rows
    end
    _G.text = function() return vim.api.nvim_buf_get_lines(0, 0, -1, false) end
    require("azimuth.client").start({ cmd = server })
  ]])
  child:lua(("_G.suggest = %s"):format(options.suggest or "function() return {} end"))
  child:wait("require('azimuth.client').lsp_client() ~= nil")
  child:wait("vim.lsp.buf_is_attached(0, require('azimuth.client').lsp_client().id)")
  child:lua(("_G.next_edit = %s"):format(options.edits or "nil"))
  child:lua(([[_G.tell(require("azimuth.generated.protocol").notifications.inline_status,
    { state = %q, model = "m", editModel = %s })]]):format(options.state or "ready", options.edits and '"n"' or "nil"))
  child:wait("require('azimuth.inline').status().model == 'm'")
  local cursor = options.cursor
  if cursor then
    child:lua(("vim.api.nvim_win_set_cursor(0, { %d, %d })"):format(cursor[1], cursor[2]))
    child:type(options.is_normal and "" or "i")
  else
    child:type(options.is_normal and "G" or "GA")
  end
  child:wait(("vim.api.nvim_get_mode().mode == '%s'"):format(options.is_normal and "n" or "i"))
  return child
end

--- Waits until a suggestion is on the screen.
---@param child Child
function M.wait(child)
  child:wait("require('azimuth.inline').visible()")
end

--- Types keys and waits until they have been played, with all that they set off.
---@param child Child
---@param keys string
function M.type(child, keys)
  local before = child:lua("return _G.played")
  child:type(keys .. "<F12>")
  child:wait(("_G.played > %d"):format(before))
  -- The events of the keys, such as `TextChangedI`, are over when Neovim waits for more.
  child:lua("return 1")
end

return M
