--- Asks the server for suggestions, and tells it what became of them. One request runs at a time.

local client = require("azimuth.client")
local diagnostics = require("azimuth.lang.diagnostics")
local positions = require("azimuth.position")
local protocol = require("azimuth.generated.protocol")
local suggestions = require("azimuth.inline.suggestion")
local wire = require("azimuth.inline.wire")

local M = {}

local slot = wire.slot()

---@class azimuth.inline.Answer
---@field suggestions azimuth.inline.Suggestion[]
---@field row integer The line that they are for, from 0.
---@field problem? string Why there are none.

--- The way in which a buffer indents.
---@param bufnr integer
---@return azimuth.Indentation
local function indentation(bufnr)
  local spaces = vim.bo[bufnr].expandtab
  local width = spaces and vim.lsp.util.get_effective_tabstop(bufnr) or vim.bo[bufnr].tabstop
  return { insertSpaces = spaces, tabSize = width }
end

--- Withdraws the request that runs, if one does.
---@param is_patient? boolean True to let one run that the user has made by a key.
function M.withdraw(is_patient)
  slot:withdraw(is_patient)
end

--- The line of the cursor of the current window, with its neighbours.
---@return azimuth.inline.Place
---@return integer row From 0.
local function here()
  local cursor = vim.api.nvim_win_get_cursor(0)
  local row = cursor[1] - 1
  local around = vim.api.nvim_buf_get_lines(0, math.max(0, row - 1), row + 2, false)
  local first = row == 0 and 1 or 2
  return { lines = { around[first] }, col = cursor[2], above = around[first - 1], below = around[first + 1] }, row
end

--- The suggestions of an answer, for the text that their ranges are of: that of the request, or the text now, if the
--- user has gone on and the server knows it.
---@param result azimuth.InlineCompleteResult
---@param places table<integer, azimuth.inline.Place> By version.
---@param encoding string
---@return azimuth.inline.Suggestion[]
local function taken(result, places, encoding)
  local found = {}
  for _, item in ipairs(result.items) do
    local place = places[item.version]
    table.insert(found, place and suggestions.new(item, place, function(line, at)
      return positions.byte(encoding, line, at)
    end))
  end
  return found
end

--- Asks about the cursor of the current window. The answer is dropped if another request follows.
---@param is_invoked boolean
---@param entry? azimuth.inline.Entry The entry of the menu that is selected.
---@param callback fun(answer: azimuth.inline.Answer)
function M.ask(is_invoked, entry, callback)
  local server = client.lsp_client()
  if not server then
    return
  end
  local bufnr = vim.api.nvim_get_current_buf()
  local place, row = here()
  local line, col = place.lines[1], place.col
  local encoding = server.offset_encoding or "utf-16"
  local function position(at)
    return { line = row, character = positions.character(encoding, line, at) }
  end
  -- The order on the wire: what was typed, then the end of the earlier request, which the server then takes for
  -- overtaken and not for given up, then the new one.
  local version = diagnostics.version(server.id, bufnr)
  M.withdraw()
  local replaced = entry and { start = position(entry.first), ["end"] = position(col) }
  ---@type azimuth.InlineCompleteParams
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(bufnr), version = version },
    position = position(col),
    trigger = is_invoked and "invoked" or "automatic",
    selected = entry and { range = replaced, text = entry.text } or nil,
    indentation = indentation(bufnr),
  }
  local function answered(err, result)
    if err then
      callback({ suggestions = {}, row = row, problem = err.message })
      return
    end
    local places = { [version or 0] = place }
    if bufnr == vim.api.nvim_get_current_buf() then
      local now, row_now = here()
      local version_now = diagnostics.version(server.id, bufnr)
      if row_now == row and version_now and version_now ~= version then
        places[version_now] = now
      end
    end
    local reason = result.reason and result.reason.words
    callback({ suggestions = taken(result, places, encoding), row = row, problem = reason })
  end
  slot:ask({ is_invoked = is_invoked }, protocol.requests.inline_complete, params, answered, bufnr)
end

--- Tells the server what became of a suggestion. It waits for no answer.
---@param id string
---@param event azimuth.InlineEvent
---@param length? integer
---@param hunk? string The hunk of an edit that it is about.
function M.tell(id, event, length, hunk)
  if client.lsp_client() then
    client.notify(protocol.requests.inline_feedback, { id = id, event = event, length = length, hunk = hunk })
  end
end

--- Forgets the request that runs: the server has ended.
function M.lost()
  slot:lost()
end

return M
