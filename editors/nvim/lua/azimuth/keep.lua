--- To keep a session elsewhere: a file with all of it, and its last answer in a register.

local client = require("azimuth.client")
local protocol = require("azimuth.generated.protocol")

local M = {}

---@type table<string, azimuth.ExportFormat>
local formats = { html = "html", md = "markdown", jsonl = "jsonl" }

---@param message string
local function fail(message)
  vim.notify("Azimuth: " .. message, vim.log.levels.ERROR)
end

--- Writes the session into a file.
---@param name? string Of the format: `html`, `md` or `jsonl`; `html` without it.
---@param path? string Without it, one named after the session in the current folder.
---@param over? boolean True to write over a file that is there.
function M.export(name, path, over)
  local session_id = client.session()
  local format = formats[name or "html"]
  if not session_id or not format then
    fail(format and "no session is open." or "the formats are html, md and jsonl.")
    return
  end
  client.request(protocol.requests.session_export, { sessionId = session_id, format = format }, function(err, result)
    if err then
      fail(err.message)
      return
    end
    local file = vim.fn.fnamemodify(path or result.name, ":p")
    if not over and vim.uv.fs_stat(file) then
      fail(file .. " is there already; :Azimuth! export writes over it.")
      return
    end
    local handle, problem = io.open(file, "w")
    if not handle then
      fail(problem)
      return
    end
    local written, why = handle:write(result.text)
    handle:close()
    if written then
      vim.notify("Azimuth: the session is in " .. file .. ".")
    else
      fail(why)
    end
  end)
end

--- Copies the last answer, as Markdown, into the unnamed register and the clipboard.
function M.copy()
  local state = client.state()
  for at = state and #state.entries or 0, 1, -1 do
    local entry = state.entries[at]
    if entry and entry.kind == "assistant" and entry.done then
      vim.fn.setreg('"', entry.text)
      -- Without a clipboard the register stays as it is.
      pcall(vim.fn.setreg, "+", entry.text)
      vim.notify("Azimuth: the last answer is copied.")
      return
    end
  end
  vim.notify("Azimuth: nothing was answered yet.")
end

return M
