--- `:Azimuth compact` and `:Azimuth handover`: has a hand-over stand for the earlier part of the conversation, corrects its
--- notes in a buffer of their own, and takes it back (docs/usage.md).

local client = require("azimuth.client")
local protocol = require("azimuth.generated.protocol")

local M = {}

local requests = protocol.requests

---@param message string
---@param level? integer
local function say(message, level)
  vim.notify("Azimuth: " .. message, level or vim.log.levels.WARN)
end

--- The session that is shown, and its last hand-over that stands.
---@return azimuth.SessionId?
---@return azimuth.Entry?
local function last()
  local session_id, state = client.session(), client.state()
  local id = state and state.handovers[#state.handovers]
  if not session_id or not state or not id then
    say("no hand-over stands in this conversation. :Azimuth compact has one written.")
    return nil, nil
  end
  return session_id, require("azimuth.fold.entries").find(state, "handover", id)
end

---@param request string
---@param params table
---@param done string
local function ask(request, params, done)
  client.request(request, params, function(err)
    if err then
      say(err.message, vim.log.levels.ERROR)
    else
      say(done, vim.log.levels.INFO)
    end
  end)
end

--- Opens the notes of the last hand-over; writing the buffer has the model read them as they are then.
local function correct()
  local session_id, entry = last()
  if not session_id or not entry then
    return
  end
  local id = entry.compaction.compactionId
  local name = ("azimuth://handover/%s"):format(id)
  local bufnr = vim.fn.bufnr(name)
  if bufnr < 0 then
    bufnr = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(bufnr, name)
    vim.bo[bufnr].buftype = "acwrite"
    vim.bo[bufnr].bufhidden = "wipe"
    vim.bo[bufnr].filetype = "markdown"
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, vim.split(entry.text, "\n", { plain = true }))
    vim.bo[bufnr].modified = false
    vim.api.nvim_create_autocmd("BufWriteCmd", {
      buffer = bufnr,
      callback = function()
        local written = table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), "\n")
        vim.bo[bufnr].modified = false
        ask(
          requests.compaction_correct,
          { sessionId = session_id, compactionId = id, written = written },
          "the hand-over is corrected: the model reads your text from now on."
        )
      end,
    })
  end
  vim.cmd.split()
  vim.api.nvim_win_set_buf(0, bufnr)
end

local function take_back()
  local session_id, entry = last()
  if session_id and entry then
    ask(
      requests.compaction_undo,
      { sessionId = session_id, compactionId = entry.compaction.compactionId },
      "the hand-over is taken back: the model sees the messages again for which it stood."
    )
  end
end

--- `:Azimuth compact [focus]`, `:Azimuth handover [undo]`.
---@param words string[]
function M.command(words)
  if words[1] == "compact" then
    require("azimuth.input").send_text(vim.trim("/compact " .. table.concat(vim.list_slice(words, 2), " ")))
  elseif words[2] == "undo" then
    take_back()
  else
    correct()
  end
end

return M
