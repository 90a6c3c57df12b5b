--- A question of the editor's own, before something that the user should have read about.
---
--- It comes up when the server has answered, and the user may have gone on meanwhile: then it is not shown, so that keys which
--- were meant for something else do not confirm it.

local blocks = require("azimuth.render.block")
local lists = require("azimuth.list")
local text = require("azimuth.text")

local M = {}

---@class azimuth.Whereabouts
---@field window integer
---@field mode string
---@field cursor integer[]

--- Where the user is, and in which mode.
---@return azimuth.Whereabouts
function M.here()
  return {
    window = vim.api.nvim_get_current_win(),
    mode = vim.api.nvim_get_mode().mode,
    cursor = vim.api.nvim_win_get_cursor(0),
  }
end

---@class azimuth.ConfirmOptions
---@field title string
---@field said string What it means, in words.
---@field yes string What `y` does, in a word or two.
---@field here azimuth.Whereabouts Where the user was when they asked for it.
---@field again string What to do where it was not shown.

--- Asks, and goes on only on `y`.
---@param options azimuth.ConfirmOptions
---@param go_on fun()
function M.ask(options, go_on)
  if not vim.deep_equal(options.here, M.here()) then
    vim.notify(("Azimuth: you did something else in the meantime, so nothing was done. %s"):format(options.again), vim.log.levels.WARN)
    return
  end
  local list
  list = lists.open({
    title = options.title,
    footer = { "y " .. options.yes, "q leaves it" },
    wrap = true,
    draw = function()
      local block = blocks.new()
      for _, line in ipairs(text.lines(vim.trim(options.said))) do
        blocks.put(block, line)
      end
      return block, {}
    end,
    keys = {
      {
        key = "y",
        desc = options.yes,
        always = true,
        run = function()
          list:close()
          go_on()
        end,
      },
    },
  })
end

return M
